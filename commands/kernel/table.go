package kernel

import (
	"github.com/duskdb/duskdb/commands/observe"
)

// Command is one line of the command table.
type Command struct {
	Name    string                // shown by listCommands
	Aliases []string              // other names that clients may use
	Run     func(*Call) error     // writes the reply, or returns the error that it is
	Help    string                // the text of listCommands
	Flags   commandFlags          // see [Command.Has]
	Action  string                // the privilege that the command needs on its resource; "" for none
	On      resource              // the resource of the privilege
	Enabled func(s *Service) bool // whether the server has it; nil: always
	// WritesUsers decides by the arguments whether a command with the flag UserWrite writes to
	// a database of users; nil: if the database of the command is one.
	WritesUsers func(*Call) bool
	TxnHint     string                  // what to do in a transaction in its place, for the error; mostly ""
	Runs        *observe.CommandCounter // counts its executions; set when the table is built
	Rule        func(*Call) error       // checks the privileges in place of Action, if they depend on the arguments; set when the table is built
}

// commandFlags are what holds for a command besides its name: code that treats a command in
// a way of its own asks for a flag.
type commandFlags uint32

const (
	AdminOnly       commandFlags = 1 << iota // only against the admin database
	PreAuth                                  // may run before authentication
	Handshake                                // opens a connection, and may begin a login
	InTxn                                    // may run inside a transaction
	EndsTransaction                          // commits or aborts a transaction
	Commits                                  // commits a transaction
	Writes                                   // takes writeConcern: it changes what members share
	UserWrite                                // is stopped by setUserWriteBlockMode, see WritesUsers
	Retryable                                // may be a retryable write, with a txnNumber outside a transaction
	HidesOutcome                             // reports nothing of a write with w: 0
	Reads                                    // takes a readConcern above local
	SnapshotRead                             // takes the readConcern "snapshot" outside a transaction
	TimedRead                                // is limited by defaultMaxTimeMS.readOperations
	SecondaryOk                              // reads on a secondary if the read preference allows that
	Continues                                // goes on with a cursor, from which it takes limit of time, namespace and snapshot
	Sequences                                // takes documents in sequences behind its body
	NoSession                                // runs without touching the session
	NoFailPoint                              // is not made to fail by failCommand
	Secret                                   // has arguments that must not be shown
	Waits                                    // waits for other clients, so it does not count as slow
	Bare                                     // has no argument but its name: any other field is refused
	ReadOp                                   // counts as a read in opLatencies
	WriteOp                                  // counts as a write in opLatencies
	PlainInserts                             // stores the documents of its arguments: nothing is compiled, and its reply has no _ids
	Profiled                                 // is profiled although its resource is not a collection
	WrapsCommand                             // has another command as its first argument
	WrapsEntries                             // has entries of an oplog, which may be commands, as its first argument
	NeedsPrimary                             // writes without taking a writeConcern
	LatestCatalog                            // reads the latest catalog, which in a transaction only the read concern local allows
)

// Has reports whether the command has a flag, or one of several.
func (c *Command) Has(flag commandFlags) bool { return c.Flags&flag != 0 }

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

// OnSecondary returns whether a secondary runs the command.
func (c *Command) OnSecondary() Secondary {
	switch {
	case c.Has(SecondaryOk):
		return OptIn
	case c.Has(Writes):
		return Never
	}
	return Always
}
