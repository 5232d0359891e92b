package diagnostics

import (
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/commands/pipeline"
	"github.com/duskdb/duskdb/commands/replication"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// collectors are the parts of getDiagnosticData in their order. Mongod gathers them once a
// second and answers with the last gathering; here the command gathers them itself, so they
// are never older than the request.
var collectors = []struct {
	name  string
	write func(c *kernel.Call) error
	ofSet bool // whether only a member of a replica set has it
}{
	{"serverStatus", writeStatusSample, false},
	{"replSetGetStatus", writeSetSample, true},
	{"local.oplog.rs.stats", writeLogSample, true},
	{"systemMetrics", writeSystemMetrics, false},
}

// sampleOptions are the arguments of the gathered serverStatus: mirroredReads is shown only
// on request, and what the server is a shard of is no figure.
var sampleOptions = value.NewDoc("serverStatus", value.Int32(1), "sharding", value.Bool(false), "mirroredReads", value.Bool(true))

// runGetDiagnosticData answers with the figures that monitoring reads: those of
// serverStatus, replSetGetStatus, the change log and the machine, each with the times
// between which it was gathered.
func runGetDiagnosticData(c *kernel.Call) error {
	b := c.Reply.StartDocument("data").Date("start", c.Svc.Clock.Now().UnixMilli())
	for _, collector := range collectors {
		if !collector.ofSet || c.Svc.InReplicaSet() {
			b.Document(collector.name, gather(c, collector.write))
		}
	}
	b.Date("end", c.Svc.Clock.Now().UnixMilli()).End()
	return nil
}

// gather has a collector write a document of its own. An error stands in it as in the
// reply of a command: monitoring goes on without that part.
func gather(c *kernel.Call, write func(*kernel.Call) error) value.Doc {
	reply, start := c.Reply, c.Svc.Clock.Now().UnixMilli()
	defer func() { c.Reply = reply }()
	c.Reply = value.NewBuilder().Date("start", start)
	if err := write(c); err != nil {
		c.Reply = value.NewBuilder().Date("start", start)
		mongoerr.From(kernel.Translate(storage.Namespace{}, err)).AppendReply(c.Reply)
	}
	return c.Reply.Date("end", c.Svc.Clock.Now().UnixMilli()).Doc()
}

func writeStatusSample(c *kernel.Call) error {
	if err := writeServerStatus(c, sampleOptions); err != nil {
		return err
	}
	c.Reply.Double("ok", 1)
	return nil
}

func writeSetSample(c *kernel.Call) error {
	if err := replication.WriteStatus(c); err != nil {
		return err
	}
	c.Reply.Double("ok", 1)
	return nil
}

// writeLogSample writes what $collStats tells of the change log.
func writeLogSample(c *kernel.Call) error {
	pipeline.AppendOrigin(c, c.Reply, oplog.Namespace)
	c.Reply.StartDocument("storageStats")
	if err := pipeline.AppendCollStats(c, c.Reply, oplog.Namespace, 1); err != nil {
		return err
	}
	c.Reply.End()
	return nil
}
