package agg

import (
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/agg/spill"
	"github.com/duskdb/duskdb/value"
)

// windowDocs are the documents of a partition. Beyond the memory limit they
// go to disk, where they are read from again as they are needed; only the
// values that the operators calculate with stay in memory.
type windowDocs struct {
	x     *Exec
	owner stage
	docs  []value.Doc // none once they are on disk
	size  int64
	disk  *spill.List // nil: in memory
	held  int64       // bytes of the values kept beside
}

func (w *windowDocs) len() int {
	if w.disk != nil {
		return w.disk.Len()
	}
	return len(w.docs)
}

// add appends a document.
func (w *windowDocs) add(d value.Doc) error {
	if w.disk != nil {
		return w.write(d)
	}
	w.docs = append(w.docs, d)
	w.size += int64(len(d)) + 96
	if w.size <= w.limit() {
		return nil
	}
	if !w.x.AllowDiskUse {
		return mongoerr.Newf(5643011, "Exceeded memory limit in DocumentSourceSetWindowFields, used %d bytes but max allowed is %d", w.size, w.limit())
	}
	w.disk = &spill.List{Dir: w.x.TempDir}
	for _, d := range w.docs {
		if err := w.write(d); err != nil {
			return err
		}
	}
	w.docs = nil
	return nil
}

func (w *windowDocs) limit() int64 { return w.x.limit(w.x.Limits.Window) }

func (w *windowDocs) write(d value.Doc) error {
	if err := w.disk.Add(d); err != nil {
		return diskError(err)
	}
	return nil
}

// complete is called when the partition has been read.
func (w *windowDocs) complete() {
	if w.disk != nil {
		w.x.spilled(w.owner, w.disk.Size())
	}
}

// at is the i-th document.
func (w *windowDocs) at(i int) (value.Doc, error) {
	if w.disk == nil {
		return w.docs[i], nil
	}
	d, err := w.disk.Get(i)
	if err != nil {
		return nil, diskError(err)
	}
	return d, nil
}

// keep is a value that an operator calculates with. Of a document that is on
// disk it is copied, since a view would keep the document.
func (w *windowDocs) keep(v value.Value) (value.Value, error) {
	if w.disk == nil {
		return v, nil
	}
	v = v.Clone()
	if w.held += int64(len(v.Bytes())); w.held > w.limit() {
		return v, mongoerr.Newf(5414201, "Exceeded memory limit in DocumentSourceSetWindowFields, used %d bytes but max allowed is %d", w.held, w.limit())
	}
	return v, nil
}

func (w *windowDocs) close() {
	if w.disk != nil {
		_ = w.disk.Close()
	}
}
