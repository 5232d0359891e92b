package diagnostics

import (
	"github.com/duskdb/duskdb/commands/kernel"
)

// ClientCommands answer small questions that clients ask of a server.
func ClientCommands() []kernel.Command {
	return []kernel.Command{
		{Name: "whatsmysni", Run: runWhatsMySNI, Help: "the server name of the client's TLS handshake"},
		{Name: "availableQueryOptions", Aliases: []string{"availablequeryoptions"}, Run: runAvailableQueryOptions, Help: "the option bits of old queries"},
		{Name: "validateDBMetadata", Run: runValidateDBMetadata, Action: "validate", On: kernel.OnDatabase, Help: "find what the stable API does not cover"},
	}
}

func runWhatsMySNI(c *kernel.Call) error {
	c.Reply.String("sni", c.Conn.ServerName)
	return nil
}

// The option bits of an OP_QUERY that a server knows: tailable, secondaryOk,
// noCursorTimeout, awaitData, exhaust, partial.
const queryOptionBits = 1<<1 | 1<<2 | 1<<4 | 1<<5 | 1<<6 | 1<<7

func runAvailableQueryOptions(c *kernel.Call) error {
	c.Reply.Int32("options", queryOptionBits)
	return nil
}
