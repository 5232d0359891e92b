package concern

import (
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// The rules on which commands accept a read or a write concern. A concern that a
// command does not accept is refused, not ignored: the client relies on it.

// CheckConcernSupport refuses a concern that the command does not accept. In a
// transaction the rules of transactions apply instead.
func CheckConcernSupport(c *kernel.Call) error {
	g := &c.Generic
	if g.WriteConcern != nil && !c.Cmd.Has(kernel.Writes) {
		return mongoerr.New(mongoerr.InvalidOptions, "Command does not support writeConcern")
	}
	if g.ReadConcern == nil {
		return nil
	}
	if err := checkTimes(g); err != nil {
		return err
	}
	if g.Level != "" && g.Level != "local" && !c.Cmd.Has(kernel.Reads) && g.Autocommit == nil {
		return ConcernRefused(c, "read concern not supported")
	}
	return nil
}

// checkTimes checks that the times in a read concern fit its level.
func checkTimes(g *kernel.Generic) error {
	after, at := g.ReadConcern.Lookup("afterClusterTime"), g.ReadConcern.Lookup("atClusterTime")
	switch {
	case after.IsMissing() && at.IsMissing():
		return nil
	case !after.IsMissing() && !at.IsMissing():
		return mongoerr.New(mongoerr.InvalidOptions, "Specifying a timestamp for readConcern snapshot in a causally consistent session is not allowed. See https://docs.mongodb.com/manual/core/read-isolation-consistency-recency/#causal-consistency")
	case !after.IsMissing() && (g.Level == "available" || g.Level == "linearizable"):
		return mongoerr.New(mongoerr.InvalidOptions, "afterClusterTime field can be set only if level is equal to majority, local, or snapshot")
	case !at.IsMissing() && g.Level != "snapshot":
		return mongoerr.New(mongoerr.InvalidOptions, "atClusterTime field can be set only if level is equal to snapshot")
	}
	if seconds, _ := at.Timestamp(); !at.IsMissing() && seconds == 0 {
		return mongoerr.New(mongoerr.InvalidOptions, "atClusterTime cannot be a null timestamp")
	}
	return nil
}

// ConcernRefused is the error for a read concern that a command cannot have.
func ConcernRefused(c *kernel.Call, reason string) error {
	return mongoerr.Newf(mongoerr.InvalidOptions, "Command %s does not support %s :: caused by :: %s", c.Cmd.Name, suppliedConcern(&c.Generic), reason)
}

// suppliedConcern is the read concern of a client as messages show it.
func suppliedConcern(g *kernel.Generic) value.Value {
	b := value.NewBuilder()
	b.StartDocument("readConcern")
	for _, name := range []string{"level", "afterClusterTime", "atClusterTime"} {
		b.Append(name, g.ReadConcern.Lookup(name))
	}
	b.String("provenance", "clientSupplied").End()
	return value.Document(b.Doc())
}

// localStages are the stages that accept no read concern but local: they read the
// present state of this server.
var localStages = map[string]bool{
	"$currentOp": true, "$listCatalog": true, "$listClusterCatalog": true, "$listLocalSessions": true, "$listSearchIndexes": true, "$planCacheStats": true, "$querySettings": true, "$queryStats": true,
}

// CheckStageConcern refuses a pipeline with a stage that does not accept the read
// concern of the command. It also refuses an explain with a write concern; a default
// write concern does not count.
func CheckStageConcern(c *kernel.Call, pipeline value.Doc, explained bool) error {
	if explained && c.HasClientWriteConcern() {
		return mongoerr.New(mongoerr.FailedToParse, "Aggregation explain does not support the'writeConcern' option")
	}
	level := c.Generic.Level
	if level == "" || level == "local" || c.Generic.Autocommit != nil {
		return nil
	}
	for stage := range pipeline.Values() {
		if name, _ := stage.Doc().First(); localStages[name] {
			return ConcernRefused(c, "Aggregation stage "+name+" requires read concern local but found "+level)
		}
	}
	return nil
}
