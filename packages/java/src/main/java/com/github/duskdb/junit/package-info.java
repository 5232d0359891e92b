/** A MongoDB-compatible server for tests, with a clock that tests can move. */
package com.github.duskdb.junit;
