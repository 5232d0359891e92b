package commands

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// legacyCommands are the commands that may come as OP_QUERY, in the spellings that mongod
// accepts: the handshake, and what old drivers ask before they have changed to OP_MSG.
var legacyCommands = map[string]bool{
	"hello": true, "isMaster": true, "ismaster": true,
	"_isSelf": true, "authenticate": true, "buildInfo": true, "buildinfo": true, "saslStart": true, "saslContinue": true,
}

// mayBeLegacy reports whether a command may come as OP_QUERY.
func mayBeLegacy(body value.Doc) bool {
	name, _ := body.First()
	return legacyCommands[name]
}

// refuseLegacy is the error of any other command; it names the command as the client does.
func refuseLegacy(body value.Doc) error {
	name, _ := body.First()
	return mongoerr.Newf(mongoerr.UnsupportedOpQueryCommand, "Unsupported OP_QUERY command: %s. The client driver may require an upgrade. For more details see https://dochub.mongodb.org/core/legacy-opcode-removal", name)
}
