// Package housekeeping is the background work of the server: it closes idle cursors and
// sessions, removes data that are kept for a limited time, and stores what must survive a
// restart.
package housekeeping
