// Package housekeeping is what the server does beside commands: it closes cursors and
// sessions that were left behind, trims what is kept for a time only, and writes down
// what a restart is to find.
package housekeeping
