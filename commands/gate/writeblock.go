package gate

import (
	"time"

	"github.com/duskdb/duskdb/commands/access"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/auth"
	"github.com/duskdb/duskdb/value"
)

// mayBypassWriteBlock reports whether the client may write while writes are blocked.
// Without access control no client may.
func mayBypassWriteBlock(c *kernel.Call) bool {
	return c.Svc.Options.Security.Auth && access.May(c, auth.Cluster(), "bypassWriteBlockingMode")
}

// ApplySettings applies the settings to a command.
func ApplySettings(s *kernel.Service, c *kernel.Call) error {
	if block := &s.Settings.Block; block.Blocked() && isUserWrite(c) && !mayBypassWriteBlock(c) {
		if err := block.Check(); err != nil {
			return err
		}
	}
	if c.Cmd.Has(kernel.Writes) && c.Generic.WriteConcern == nil && c.Generic.Autocommit == nil {
		concerns, err := c.DefaultConcerns()
		if err != nil {
			return err
		}
		if concerns.Write != nil {
			if err := c.Generic.ParseWriteConcern(value.Document(concerns.Write)); err != nil {
				return err
			}
		}
	}
	if c.Generic.MaxTime == 0 && c.Cmd.Has(kernel.TimedRead) {
		cluster, err := c.ClusterSettings()
		if err != nil {
			return err
		}
		if ms := cluster.ReadMillis; ms > 0 {
			c.Generic.MaxTime = time.Duration(ms) * time.Millisecond
		}
	}
	return nil
}

// isUserWrite reports whether a command writes to a database of users, not to one of the
// server's own.
func isUserWrite(c *kernel.Call) bool {
	switch {
	case !c.Cmd.Has(kernel.UserWrite):
		return false
	case c.Cmd.WritesUsers != nil:
		return c.Cmd.WritesUsers(c)
	}
	return kernel.UserDatabase(c.DB)
}

// WritesUnless returns a function for the table of commands: the command writes to its
// database, unless onlyReads is true of its arguments.
func WritesUnless(onlyReads func(body value.Doc) bool) func(*kernel.Call) bool {
	return func(c *kernel.Call) bool { return !onlyReads(c.Body) && kernel.UserDatabase(c.DB) }
}

// NamesUserDatabase reports whether one of the namespaces in nsInfo is in a database of users.
func NamesUserDatabase(c *kernel.Call) bool {
	for d := range access.Statements(c, "nsInfo") {
		if kernel.UserDatabase(access.SplitNamespace(d.Lookup("ns").Str()).DB) {
			return true
		}
	}
	return false
}
