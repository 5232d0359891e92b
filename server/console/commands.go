package console

import (
	"fmt"

	"github.com/duskdb/duskdb/value"
)

// kind says what a command of the console does.
type kind int

const (
	reads kind = iota + 1
	writes
)

// allowed are the commands that the console runs.
var allowed = map[string]kind{
	"aggregate": reads, "buildInfo": reads, "collMod": writes, "collStats": reads, "connectionStatus": reads, "count": reads,
	"create": writes, "createIndexes": writes, "currentOp": reads, "dbStats": reads, "delete": writes, "distinct": reads,
	"drop": writes, "dropIndexes": writes, "expirationStats": reads, "explain": reads, "explainExpiry": reads, "find": reads,
	"getLog": reads, "getMore": reads, "getParameter": reads, "hello": reads, "insert": writes, "killCursors": reads,
	"listCollections": reads, "listDatabases": reads, "listIndexes": reads, "mqAbandon": writes, "mqAcceptSession": writes,
	"mqCancelScheduled": writes, "mqComplete": writes, "mqDeadLetter": writes, "mqDefer": writes, "mqPeek": reads, "mqPurge": writes,
	"mqReceive": writes, "mqReleaseSession": writes, "mqRenewLock": writes, "mqRenewSession": writes, "mqResubmit": writes,
	"mqSend": writes, "mqSessions": reads, "mqSetSessionState": writes, "mqStats": reads, "ping": reads, "runExpirationPass": writes,
	"serverStatus": reads, "testClock": writes, "top": reads, "update": writes,
}

// check refuses a command that the console does not run, or not if it only reads.
func check(command value.Doc, readOnly bool) error {
	name, _ := command.First()
	k := allowed[name]
	switch {
	case k == 0:
		return fmt.Errorf("the console does not run the command %q", name)
	case readOnly && (k == writes && !harmless(name, command) || name == "aggregate" && storesResult(command) || name == "explain"):
		return fmt.Errorf("the console is read-only: it does not run %q", name)
	}
	return nil
}

// harmless reports whether a command that may write only reads with these arguments.
func harmless(name string, command value.Doc) bool {
	switch name {
	case "testClock":
		for field := range command.All() {
			if field != "testClock" {
				return false
			}
		}
		return true
	case "mqPurge":
		dry := command.Lookup("dryRun")
		return dry.Kind() == value.KindBool && dry.Bool()
	}
	return false
}

// storesResult reports whether a pipeline has a stage that writes.
func storesResult(command value.Doc) bool {
	for v := range command.Lookup("pipeline").Doc().Values() {
		if name, _ := v.Doc().First(); name == "$out" || name == "$merge" {
			return true
		}
	}
	return false
}
