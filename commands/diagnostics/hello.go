package diagnostics

import (
	"github.com/duskdb/duskdb/commands/kernel"
)

func runWhatsMySNI(c *kernel.Call) error {
	c.Reply.String("sni", c.Conn.ServerName)
	return nil
}

// queryOptionBits are the bits of an OP_QUERY that a server knows: tailable, secondaryOk,
// noCursorTimeout, awaitData, exhaust, partial.
const queryOptionBits = 1<<1 | 1<<2 | 1<<4 | 1<<5 | 1<<6 | 1<<7

func runAvailableQueryOptions(c *kernel.Call) error {
	c.Reply.Int32("options", queryOptionBits)
	return nil
}
