package commands

// command is one line of the command table.
type command struct {
	name    string
	aliases []string
	run     func(*Call) error
	help    string
	flags   commandFlags
	action  string                // privilege that the command needs on its resource; "" for none
	on      resource              // what the privilege is asked on
	enabled func(s *Service) bool // nil: always in the table
	runs    *commandCounter       // set when the table is built
	rule    func(*Call) error     // asks for the privileges instead of action, where they depend on the arguments; set when the table is built
}

// commandFlags are the rules of the gate.
type commandFlags uint16

const (
	adminOnly commandFlags = 1 << iota // only against the admin database
	preAuth                            // may run before authentication
	handshake                          // may come as OP_QUERY
	inTxn                              // may run inside a transaction
	writes                             // takes writeConcern: it changes what members share
	reads                              // takes a readConcern above local
	noSession                          // runs without touching the session
	secret                             // has arguments that must not be shown
	waits                              // waits for what others do, so that it is never slow
	bare                               // has no argument but its name: any other field is refused
)

// resource is what a privilege is asked on.
type resource uint8

const (
	onNothing    resource = iota
	onCollection          // the collection named by the first field
	onDatabase            // the database of the command
	onCluster
)

// commandFamilies lists the parts of the table, each next to its code.
func commandFamilies() [][]command {
	return [][]command{
		handshakeCommands(),
		authCommands(),
		crudCommands(),
		bulkCommands(),
		cappedCommands(),
		upkeepCommands(),
		hashCommands(),
		settingCommands(),
		planCacheCommands(),
		querySettingsCommands(),
		mapReduceCommands(),
		refusedCommands(),
		clientCommands(),
		oplogCommands(),
		diagnosticCommands(),
		parameterCommands(),
		sessionCommands(),
		transactionCommands(),
		replicaSetCommands(),
		catalogCommands(),
		statsCommands(),
		expiryCommands(),
		customCommands(),
		queueCommands(),
		maintenanceCommands(),
		testCommands(),
	}
}
