package concern

import (
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// Which commands take a read or a write concern. What a command does not take
// is refused rather than ignored, as a client that gives it relies on it.

// CheckConcernSupport refuses a concern that the command does not take. Within
// a transaction the rules of transactions hold instead.
func CheckConcernSupport(c *kernel.Call) error {
	g := &c.Generic
	if g.WriteConcern != nil && c.Cmd.Flags&kernel.Writes == 0 {
		return mongoerr.New(mongoerr.InvalidOptions, "Command does not support writeConcern")
	}
	if g.ReadConcern == nil {
		return nil
	}
	if err := checkTimes(g); err != nil {
		return err
	}
	if g.Level != "" && g.Level != "local" && c.Cmd.Flags&kernel.Reads == 0 && g.Autocommit == nil {
		return ConcernRefused(c, "read concern not supported")
	}
	return nil
}

// checkTimes applies what holds between the times and the level of a read concern.
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

// localStages read the state of this server as it is now, whatever the read
// concern says: so they take none but local.
var localStages = map[string]bool{
	"$currentOp": true, "$listCatalog": true, "$listLocalSessions": true, "$listSearchIndexes": true, "$planCacheStats": true, "$querySettings": true, "$queryStats": true,
}

// CheckStageConcern refuses a pipeline with stages that do not take the read
// concern of the command, or that has a write concern and is only explained.
func CheckStageConcern(c *kernel.Call, pipeline value.Doc, explained bool) error {
	if v := c.Body.Lookup("writeConcern"); explained && !v.IsMissing() && v.Kind() != value.KindNull { // a default is none
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
