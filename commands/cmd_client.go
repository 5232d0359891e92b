package commands

// clientCommands answer small questions that clients ask of a server.
func clientCommands() []command {
	return []command{
		{name: "whatsmysni", run: runWhatsMySNI, help: "the server name of the client's TLS handshake"},
		{name: "availableQueryOptions", aliases: []string{"availablequeryoptions"}, run: runAvailableQueryOptions, help: "the option bits of old queries"},
		{name: "validateDBMetadata", run: runValidateDBMetadata, action: "validate", on: onDatabase, help: "find what the stable API does not cover"},
	}
}

func runWhatsMySNI(c *Call) error {
	c.reply.String("sni", c.conn.ServerName)
	return nil
}

// The option bits of an OP_QUERY that a server knows: tailable, secondaryOk,
// noCursorTimeout, awaitData, exhaust, partial.
const queryOptionBits = 1<<1 | 1<<2 | 1<<4 | 1<<5 | 1<<6 | 1<<7

func runAvailableQueryOptions(c *Call) error {
	c.reply.Int32("options", queryOptionBits)
	return nil
}
