package kernel

import (
	"github.com/duskdb/duskdb/commands/observe"
)

// Command is one line of the command table.
type Command struct {
	Name    string                  // as listCommands shows it
	Aliases []string                // other names that clients may use
	Run     func(*Call) error       // writes the reply, or returns the error that it is
	Help    string                  // for listCommands
	Flags   commandFlags            // rules that hold before it runs
	Action  string                  // privilege that the command needs on its resource; "" for none
	On      resource                // the resource of the privilege
	Enabled func(s *Service) bool   // nil: always in the table
	Runs    *observe.CommandCounter // set when the table is built
	Rule    func(*Call) error       // checks the privileges in place of Action, if they depend on the arguments; set when the table is built
}

// commandFlags are the rules of the gate.
type commandFlags uint16

const (
	AdminOnly commandFlags = 1 << iota // only against the admin database
	PreAuth                            // may run before authentication
	Handshake                          // opens a connection, and may begin a login
	InTxn                              // may run inside a transaction
	Writes                             // takes writeConcern: it changes what members share
	Reads                              // takes a readConcern above local
	NoSession                          // runs without touching the session
	Secret                             // has arguments that must not be shown
	Waits                              // waits for other clients, so it does not count as slow
	Bare                               // has no argument but its name: any other field is refused
)

// resource is the kind of resource of a privilege.
type resource uint8

const (
	OnNothing    resource = iota
	OnCollection          // the collection named by the first field
	OnDatabase            // the database of the command
	OnCluster
)

// Secondary says whether a secondary runs a command.
type Secondary uint8

const (
	Always Secondary = iota // it concerns the server itself
	OptIn                   // with a read preference that allows secondaries
	Never                   // it writes
)

// readOnSecondaries are the commands that a secondary runs only with a read preference that
// allows secondaries.
var readOnSecondaries = map[string]bool{
	"aggregate": true, "collStats": true, "count": true, "dataSize": true, "dbStats": true, "distinct": true, "explain": true, "find": true,
	"listCollections": true, "listDatabases": true, "listIndexes": true,
}

// OnSecondary reports whether a secondary runs the command.
func (c *Command) OnSecondary() Secondary {
	switch {
	case readOnSecondaries[c.Name]:
		return OptIn
	case c.Flags&Writes != 0:
		return Never
	}
	return Always
}
