// Package broadcast wakes all goroutines that wait for a change. It keeps
// no queue: a waiter takes a channel, looks at the state, and waits for the channel
// to be closed.
package broadcast
