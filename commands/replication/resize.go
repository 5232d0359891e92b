package replication

import (
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

type resizeOplogArgs struct {
	Resize    value.Value `arg:"replSetResizeOplog"`
	Size      value.Value `arg:"size"`
	Retention value.Value `arg:"minRetentionHours"`
}

var resizeOplogSpec = args.New[resizeOplogArgs]("replSetResizeOplog")

// minOplogMB is the least size of the log that the command accepts.
const minOplogMB = 990

// runReplSetResizeOplog changes the bounds of the change log. The size is stored with the
// log; the retention time is not stored, except with other servers, which may trim the log.
func runReplSetResizeOplog(c *kernel.Call) error {
	var a resizeOplogArgs
	if err := resizeOplogSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	mb, err := atLeast("size", a.Size, minOplogMB)
	if err != nil {
		return err
	}
	hours, err := atLeast("minRetentionHours", a.Retention, 0)
	if err != nil {
		return err
	}
	l := c.Svc.Oplog
	if l.Off {
		return mongoerr.New(mongoerr.NamespaceNotFound, "oplog does not exist")
	}
	if !a.Retention.IsMissing() {
		if err := l.KeepFor(c.Ctx, int64(hours*3600_000)); err != nil {
			return kernel.Translate(oplog.Namespace, err)
		}
	}
	if !a.Size.IsMissing() {
		if err := l.Resize(c.Ctx, int64(mb*(1<<20))); err != nil {
			return kernel.Translate(oplog.Namespace, err)
		}
	}
	l.NoteReader(c.Ctx) // a client that sets a size wants to read the log
	l.Appended(0)
	return nil
}

// atLeast reads an optional number.
func atLeast(name string, v value.Value, least float64) (float64, error) {
	switch {
	case v.IsMissing():
		return 0, nil
	case !v.IsNumber():
		return 0, args.WrongType("replSetResizeOplog", name, v, args.NumberTypes)
	}
	f := v.AsDouble()
	if !(f >= least) {
		return 0, mongoerr.Newf(mongoerr.BadValue, "BSON field '%s' value must be >= %v, actual value '%v'", name, least, f)
	}
	return f, nil
}
