package commands

import (
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

type resizeOplogArgs struct {
	Resize    value.Value `arg:"replSetResizeOplog"`
	Size      value.Value `arg:"size"`
	Retention value.Value `arg:"minRetentionHours"`
}

var resizeOplogSpec = newArgs[resizeOplogArgs]("replSetResizeOplog")

// minOplogMB is the least size that the log may be given by command.
const minOplogMB = 990

// runReplSetResizeOplog changes the bounds of the change log: of its size,
// which is kept with the log, and of its age, which is not.
func runReplSetResizeOplog(c *Call) error {
	var a resizeOplogArgs
	if err := resizeOplogSpec.decode(c.Body, &a); err != nil {
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
	l := c.svc.oplog
	if l.off {
		return mongoerr.New(mongoerr.NamespaceNotFound, "oplog does not exist")
	}
	if !a.Retention.IsMissing() {
		l.keep.Store(int64(hours * 3600_000))
	}
	if !a.Size.IsMissing() {
		if err := l.resize(c, int64(mb*(1<<20))); err != nil {
			return err
		}
	}
	l.noteReader(c.ctx) // what somebody gives a size to, somebody reads
	l.appended(0)
	return nil
}

// atLeast reads an optional number.
func atLeast(name string, v value.Value, least float64) (float64, error) {
	switch {
	case v.IsMissing():
		return 0, nil
	case !v.IsNumber():
		return 0, wrongType("replSetResizeOplog", name, v, numberTypes)
	}
	f := v.AsDouble()
	if !(f >= least) {
		return 0, mongoerr.Newf(mongoerr.BadValue, "BSON field '%s' value must be >= %v, actual value '%v'", name, least, f)
	}
	return f, nil
}

// resize sets the bound of the size, now and for later starts.
func (l *changeLog) resize(c *Call, bytes int64) error {
	err := l.engine.Update(c.ctx, func(tx storage.Tx) error { return tx.SetOptions(oplogNS, oplogOptions(bytes)) })
	if err != nil {
		return translate(oplogNS, err)
	}
	l.limit.Store(bytes)
	return nil
}

// oplogOptions are those of the collection that the log is.
func oplogOptions(bytes int64) value.Doc {
	return value.NewDoc("capped", value.Bool(true), "size", value.Int(bytes), "autoIndexId", value.Bool(false))
}
