package gate

import (
	"strings"
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
	if s.Settings.Blocked.Load() && isUserWrite(c) && !mayBypassWriteBlock(c) {
		return kernel.ErrWritesBlocked
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

// onlyReads reports whether a command that may write does not with its arguments.
func onlyReads(c *kernel.Call) bool {
	switch c.Cmd.Name {
	case "aggregate":
		return !kernel.WritesOut(c.Body.Lookup("pipeline").Doc())
	case "mapReduce":
		return c.Body.Lookup("out").Doc().Has("inline")
	case "mqPurge":
		return c.Body.Lookup("dryRun").Truthy()
	case "customAction":
		return strings.HasPrefix(c.Body.Lookup("customAction").Str(), "Get")
	}
	return false
}

// isUserWrite reports whether a command writes to a database of users, not to one of the
// server's own.
func isUserWrite(c *kernel.Call) bool {
	if !c.Cmd.Has(kernel.UserWrite) || onlyReads(c) {
		return false
	}
	switch c.Cmd.Name {
	case "renameCollection":
		return kernel.UserDatabase(access.SplitNamespace(c.Body.Lookup("renameCollection").Str()).DB)
	case "bulkWrite":
		for d := range access.Statements(c, "nsInfo") {
			if kernel.UserDatabase(access.SplitNamespace(d.Lookup("ns").Str()).DB) {
				return true
			}
		}
		return false
	case "applyOps":
		return true
	}
	return kernel.UserDatabase(c.DB)
}
