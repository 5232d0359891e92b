package commands

import (
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// What mongod says in front of errors that a running query meets.
const (
	aggregationFailed = "PlanExecutor error during aggregation"
	findFailed        = "Executor error during find command"
	getMoreFailed     = "Executor error during getMore"
)

// largestResult is how large a document may be on its way to a client.
const largestResult = MaxDocumentBytes + 16*1024

// inContext is the last iterator of a query: it says of an error during
// which command it came up, and refuses documents that no message can hold.
type inContext struct {
	src  agg.Iterator
	exec *execution
	ns   storage.Namespace
	what string
}

func (i *inContext) Next() (value.Doc, error) {
	d, err := i.src.Next()
	if err == nil && len(d) > largestResult {
		err = tooLarge(d)
		if c := i.exec.running(); c.changeStream {
			c.svc.metrics.changeStreams.failed.Add(1)
		}
	}
	if err == nil {
		return d, nil
	}
	what := i.what
	if c := i.exec.running(); c.cmd != nil && c.cmd.name == "getMore" {
		what = getMoreFailed
	}
	return nil, mongoerr.From(translate(i.ns, err)).WithPrefix(what)
}

func (i *inContext) AtEnd() bool { return atEnd(i.src) }
func (i *inContext) Close()      { i.src.Close() }

func tooLarge(d value.Doc) error {
	name, first := d.First()
	return mongoerr.Newf(mongoerr.BSONObjectTooLarge, "BSONObj size: %d (0x%X) is invalid. Size must be between 0 and %d(16MB) First element: %s: %s",
		len(d), len(d), largestResult, name, first)
}
