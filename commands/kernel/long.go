package kernel

import "runtime"

// LongMessage is the size, in bytes, from which the command of a message is taken to last long.
const LongMessage = 16 << 10

// TakesLong is called by a command that will go on for more than about 0.1 ms, by its own
// goroutine. It makes sure that requests of other connections are noticed meanwhile.
//
// In Go, an idle thread waits for the network. When a request arrives, that thread runs the
// goroutine of the connection, and unless something else is ready to run, no other thread is
// woken to wait in its place: the network is looked at again when the goroutine waits, or by
// the scheduler's monitor after up to 10 ms. A short command is over before that matters. A
// long one gets another thread woken: by a goroutine that is ready to run, and has nothing to
// do. That would be in vain for the only client: if since the last long command of the
// connection there was no request but that one.
func (c *Call) TakesLong() {
	if c.long || processors == 1 || c.Conn == nil {
		return
	}
	c.long = true
	served := c.Svc.Metrics.Network.Requests.Load()
	if with := c.Conn.servedWithLong.Swap(served + 1); with == 0 || served > with {
		go func() {}()
	}
}

var processors = runtime.GOMAXPROCS(0)
