package kernel

import "github.com/duskdb/duskdb/internal/runtimehints"

// LongMessage is the size, in bytes, from which the command of a message is taken to last long.
const LongMessage = 16 << 10

// TakesLong is called by a command that will go on for more than about 0.1 ms, by its own
// goroutine. It makes sure that requests of other connections are noticed meanwhile.
func (c *Call) TakesLong() {
	if !c.long {
		c.long = true
		runtimehints.WatchNetwork()
	}
}
