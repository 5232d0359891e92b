package mq

import (
	"maps"
	"slices"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

type mqRestoreArgs struct {
	Queue    value.Value `arg:"mqRestore,required"`
	SubQueue string      `arg:"subQueue"`
	Messages args.Array  `arg:"messages"`
}

var mqRestoreSpec = args.New[mqRestoreArgs]("mqRestore")

// runMQRestore stores messages of a dump, each or its error.
func runMQRestore(c *kernel.Call) error {
	var a mqRestoreArgs
	if err := mqRestoreSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	ref, err := queueRef(c, a.Queue, a.SubQueue)
	if err != nil {
		return err
	}
	docs, err := messagesToStore(c, a.Messages)
	if err != nil {
		return err
	}
	failed, err := c.Svc.Queues.Restore(c.Ctx, kernel.CallStore{Call: c}, ref, docs, c.Now)
	if err != nil {
		return queueError(c, ref, err)
	}
	c.Svc.Metrics.Document.Inserted.Add(int64(len(docs) - len(failed)))
	c.Reply.Int32("n", int32(len(docs)-len(failed)))
	if len(failed) > 0 {
		var list []*mongoerr.WriteError
		for _, i := range slices.Sorted(maps.Keys(failed)) {
			list = append(list, mongoerr.NewWriteError(i, queueError(c, ref, failed[i], docs[i])))
		}
		mongoerr.AppendWriteErrors(c.Reply, list)
	}
	return nil
}
