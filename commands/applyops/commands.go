package applyops

import (
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// Commands returns applyOps.
func Commands() []kernel.Command {
	return []kernel.Command{
		{Name: "applyOps", Run: run, Flags: kernel.AdminOnly | kernel.Writes | kernel.UserWrite | kernel.WrapsEntries, Action: "applyOps", On: kernel.OnCluster, WritesUsers: func(*kernel.Call) bool { return true }, Help: "apply entries of an oplog"},
	}
}

// run applies entries one after the other, up to the first that
// fails.
func run(c *kernel.Call) error {
	var a arguments
	if err := argumentsSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	switch {
	case !a.Prepare.IsMissing():
		return mongoerr.New(mongoerr.BadValue, "applyOps command can't have 'prepare' field")
	case !a.PartialTxn.IsMissing():
		return mongoerr.New(31056, "applyOps command can't have 'partialTxn' field.")
	case a.Count != 0:
		return mongoerr.New(31240, "applyOps command can't have 'count' field.")
	}
	if _, err := demands(&a, 0); err != nil {
		return err
	}
	if err := a.Check(); err != nil {
		return err
	}
	results, err := applyAll(c, &a)
	if err != nil {
		return mongoerr.From(err).WithExtra("applied", value.Int32(int32(len(results)))).WithExtra("results", value.NewArray(results...))
	}
	c.Reply.Int32("applied", int32(len(results))).Append("results", value.NewArray(results...))
	return nil
}

// applyAll applies a list of entries and returns which of them succeeded. An
// update that finds nothing does not keep the entries behind it from being
// applied; any other error does. No-ops are passed over.
func applyAll(c *kernel.Call, a *arguments) (results []value.Value, err error) {
	ops, err := entries(a)
	if err != nil {
		return nil, err
	}
	failed := false
	for i := range ops {
		if ops[i].Op == "n" {
			continue
		}
		err := applyEntry(c, a, &ops[i])
		results = append(results, value.Bool(err == nil))
		switch {
		case mongoerr.Is(err, mongoerr.UpdateOperationFailed):
			failed = true
		case err != nil:
			return results, err
		}
	}
	if failed {
		return results, mongoerr.New(mongoerr.UnknownError, "applyOps had one or more errors applying ops")
	}
	return results, nil
}
