package window

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/spill"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/value"
)

// windowDocs are the documents of a partition. Beyond the memory limit they are
// written to disk and read again when they are needed; only the values in the
// operators' windows stay in memory.
type windowDocs struct {
	x     *stage.Exec
	owner stage.Stage
	docs  []value.Doc // none once they are on disk
	size  int64       // the bytes of docs
	disk  *spill.List // nil: in memory
	held  int64       // bytes of what the operators keep
	claim stage.Claim
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
		return w.claim.Grow(w.x, w.size)
	}
	if !w.x.AllowDiskUse {
		return mongoerr.Newf(5643011, "Exceeded memory limit in DocumentSourceSetWindowFields, used %d bytes but max allowed is %d", w.size, w.limit())
	}
	return w.spill()
}

// spill moves all documents to disk.
func (w *windowDocs) spill() error {
	w.disk = &spill.List{Dir: w.x.TempDir}
	for _, d := range w.docs {
		if err := w.write(d); err != nil {
			return err
		}
	}
	w.docs, w.size = nil, 0
	return nil
}

func (w *windowDocs) limit() int64 { return w.x.Limit(w.x.Limits.Window) }

func (w *windowDocs) write(d value.Doc) error {
	if err := w.disk.Add(d); err != nil {
		return stage.DiskError(err)
	}
	return nil
}

// complete is called when the partition has been read.
func (w *windowDocs) complete() {
	if w.disk != nil {
		w.x.Spilled(w.owner, w.disk.Size())
	}
}

// at returns the i-th document.
func (w *windowDocs) at(i int) (value.Doc, error) {
	if w.disk == nil {
		return w.docs[i], nil
	}
	d, err := w.disk.Get(i)
	if err != nil {
		return nil, stage.DiskError(err)
	}
	return d, nil
}

// hold counts n more bytes that are kept in addition to the documents. Beyond the
// limit the documents are written to disk; if the kept bytes alone are beyond the
// limit, hold fails.
func (w *windowDocs) hold(n int64) error {
	w.held += n
	if w.held+w.size <= w.limit() {
		return w.claim.Grow(w.x, w.held+w.size)
	}
	if w.disk == nil && w.x.AllowDiskUse {
		if err := w.spill(); err != nil {
			return err
		}
		w.complete()
	}
	if used := w.held + w.size; used > w.limit() {
		return mongoerr.Newf(5414201, "Exceeded memory limit in DocumentSourceSetWindowFields, used %d bytes but max allowed is %d", used, w.limit())
	}
	return nil
}

func (w *windowDocs) close() {
	if w.disk != nil {
		_ = w.disk.Close()
	}
}
