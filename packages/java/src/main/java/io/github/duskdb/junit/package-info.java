/** A MongoDB-compatible server for tests, with a clock that tests can move. */
package io.github.duskdb.junit;
