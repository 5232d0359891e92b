package pipeline

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/write"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/index"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Out implements stage.Host: it writes into a temporary collection, which replaces the target
// at the end.
func (h *Environment) Out(_ *agg.Exec, t agg.OutTarget) (agg.OutWriter, error) {
	ns := storage.Namespace{DB: t.DB, Coll: t.Coll}
	if err := catalog.CheckUserNamespace(ns); err != nil {
		return nil, err
	}
	old, err := exec.Lookup(h.Exec.Running(), ns)
	if err != nil {
		return nil, err
	}
	m := catalog.Of(old)
	switch {
	case m.Kind == catalog.View && t.TimeSeries == nil:
		return nil, catalog.NotOnView(ns)
	case m.Kind == catalog.TimeSeries || t.TimeSeries != nil:
		return h.outTimeSeries(ns, old, t)
	case m.Capped:
		return nil, mongoerr.Newf(17152, "namespace '%s' is capped so it can't be used for $out", ns)
	case m.IsQueue:
		return nil, mongoerr.Newf(mongoerr.IllegalOperation, "cannot replace the messages of %s by $out: send messages by $merge or insert", ns)
	}
	o := &outWriter{h: h, ns: ns, old: old, temp: storage.Namespace{DB: ns.DB, Coll: outName(h.Exec.Running().Svc)}}
	return o, o.create(old)
}

// outPrefix begins the names of the collections that $out writes into.
const outPrefix = "tmp.agg_out."

// outName returns a name for a collection that $out writes into, which no other server
// uses.
func outName(s *kernel.Service) string {
	name := outPrefix + strconv.FormatInt(s.Outs.Add(1), 10)
	if owner := s.OwnerName(); owner != "" {
		name += "." + owner
	}
	return name
}

// outOwner returns the owner in the name of a collection that $out writes into. ok is false
// for other collections.
func outOwner(ns storage.Namespace) (owner string, ok bool) {
	name, _ := reserved.Series(ns.Coll)
	name, ok = strings.CutPrefix(name, outPrefix)
	_, owner, _ = strings.Cut(name, ".")
	return owner, ok
}

// DropLeftOvers drops the temporary collections of each $out that was running when its
// server ended.
func DropLeftOvers(s *kernel.Service) error {
	found := map[string][]storage.Namespace{} // by owner
	err := s.Engine.View(s.Background, func(tx storage.Tx) error {
		clear(found)
		infos, err := tx.Collections("")
		for _, info := range infos {
			if owner, ok := outOwner(info.Namespace); ok {
				found[owner] = append(found[owner], info.Namespace)
			}
		}
		return err
	})
	for owner, list := range found {
		if err == nil && s.HasEnded(owner) {
			err = dropAll(s, list)
		}
	}
	return err
}

// dropAll drops collections, as far as they exist.
func dropAll(s *kernel.Service, list []storage.Namespace) error {
	return storage.Retry(s.Background, s.Engine, func(tx storage.Tx) error {
		for _, ns := range list {
			if err := tx.Drop(ns); err != nil && !errors.Is(err, storage.ErrNotFound) {
				return err
			}
		}
		return nil
	})
}

// outWriter buffers documents and writes them in chunks.
type outWriter struct {
	h       *Environment
	ns      storage.Namespace
	old     *storage.Info // the target before, nil: there was none
	temp    storage.Namespace
	pending []value.Doc
	bytes   int
	done    bool
}

func (o *outWriter) create(old *storage.Info) error {
	options, indexes := value.EmptyDoc, []storage.IndexSpec{index.IDSpec(nil).Stored()}
	if old != nil {
		options, indexes = old.Options, nil
		for _, line := range old.Indexes {
			indexes = append(indexes, line.IndexSpec)
		}
	}
	return o.h.Exec.Running().Update(func(tx storage.Tx) error {
		_, err := tx.Create(o.temp, options, indexes)
		return err
	})
}

func (o *outWriter) Write(d value.Doc) error {
	prepared, err := write.PrepareInsert(o.h.Exec.Running(), d)
	if err != nil {
		return err
	}
	o.pending, o.bytes = append(o.pending, prepared.Clone()), o.bytes+len(prepared)
	if len(o.pending) < write.InsertChunk && o.bytes < write.InsertBytes {
		return nil
	}
	return o.flush()
}

func (o *outWriter) flush() error {
	c := o.h.Exec.Running()
	err := c.Update(func(tx storage.Tx) error {
		coll, err := tx.Collection(o.temp)
		if err != nil {
			return err
		}
		w := write.New(c, tx, coll, o.h.bypass)
		for _, d := range o.pending {
			if _, err := w.Insert(d); err != nil {
				return err
			}
		}
		return nil
	})
	o.pending, o.bytes = o.pending[:0], 0
	return err
}

func (o *outWriter) Commit() error {
	if err := o.flush(); err != nil {
		return err
	}
	err := o.h.Exec.Running().Update(func(tx storage.Tx) error {
		if err := checkUnchanged(tx, o.ns, o.old); err != nil {
			return err
		}
		if err := tx.Drop(o.ns); err != nil && !errors.Is(err, storage.ErrNotFound) {
			return err
		}
		return tx.Rename(o.temp, o.ns)
	})
	o.done = err == nil
	return err
}

// checkUnchanged refuses to replace a collection whose options or indexes have changed since
// the $out began.
func checkUnchanged(tx storage.Tx, ns storage.Namespace, old *storage.Info) error {
	now := &storage.Info{}
	if coll, err := tx.Collection(ns); err == nil {
		now = coll.Info()
	} else if !errors.Is(err, storage.ErrNotFound) {
		return err
	}
	if old == nil {
		old = &storage.Info{}
	}
	if !bytes.Equal(kernel.OrEmpty(old.Options), kernel.OrEmpty(now.Options)) {
		return mongoerr.Newf(mongoerr.CommandFailed, "collection options of target collection %s changed during processing. Original options: %s, new options: %s",
			ns, kernel.OrEmpty(old.Options), kernel.OrEmpty(now.Options))
	}
	same := slices.EqualFunc(old.Indexes, now.Indexes, func(a, b storage.IndexInfo) bool { return a.Name == b.Name && bytes.Equal(a.Spec, b.Spec) })
	if !same {
		return mongoerr.Newf(mongoerr.CommandFailed, "indexes of target collection %s changed during processing.", ns)
	}
	return nil
}

func (o *outWriter) Abort() {
	if o.done {
		return
	}
	o.done = true
	svc := o.h.Exec.Running().Svc
	noteLeftOver(svc, o.temp, storage.Retry(svc.Background, svc.Engine, func(tx storage.Tx) error { return tx.Drop(o.temp) }))
}

// noteLeftOver logs that the collection of an $out that failed could not be
// dropped. The next start drops it.
func noteLeftOver(s *kernel.Service, temp storage.Namespace, err error) {
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		s.Log.Warn().Err(err).Stringer("ns", temp).Msg("The temporary collection of a failed $out could not be dropped; the next start drops it")
	}
}

// Merge implements stage.Host.
func (h *Environment) Merge(x *agg.Exec, t agg.MergeTarget) (agg.MergeWriter, error) {
	ns := storage.Namespace{DB: t.DB, Coll: t.Coll}
	if err := catalog.CheckUserNamespace(ns); err != nil {
		return nil, err
	}
	info, err := exec.Lookup(h.Exec.Running(), ns)
	if err != nil {
		return nil, err
	}
	m := catalog.Of(info)
	switch m.Kind {
	case catalog.View:
		return nil, catalog.NotOnView(ns)
	case catalog.TimeSeries:
		return nil, mongoerr.Newf(mongoerr.CommandNotSupportedOnView, "$merge to time-series collections is not supported: %s", ns)
	}
	w := &mergeWriter{h: h, ns: ns, on: t.On, insert: t.Insert, scripted: t.Scripted}
	switch {
	case t.On == nil:
		w.on = []string{"_id"}
	case info != nil || !isID(t.On):
		if w.spec = uniqueIndexOn(m.Indexes, t.On, x.Env.Collation); w.spec == nil {
			return nil, errNoMergeIndex
		}
	}
	return w, nil
}

var errNoMergeIndex = mongoerr.New(51183, "Cannot find index to verify that join fields will be unique")

func isID(on []string) bool { return len(on) == 1 && on[0] == "_id" }

// checkMergeFields refuses a $merge, before it reads anything, whose fields
// do not identify a document.
func checkMergeFields(c *kernel.Call, p *agg.Pipeline, collator value.Collator) error {
	t, ok := p.MergeTarget()
	if !ok || t.On == nil {
		return nil
	}
	info, err := exec.Lookup(c, storage.Namespace{DB: t.DB, Coll: t.Coll})
	if err != nil || info == nil && isID(t.On) {
		return err
	}
	if m := catalog.Of(info); m.Kind == catalog.Ordinary && uniqueIndexOn(m.Indexes, t.On, collator) == nil {
		return errNoMergeIndex
	}
	return nil
}

// uniqueIndexOn finds a unique index over exactly these fields, in any
// order, that compares strings as the command does: one that is not sparse, if there is any.
func uniqueIndexOn(indexes []*index.Spec, on []string, collator value.Collator) (found *index.Spec) {
	for _, s := range indexes {
		var own value.Collator
		if s.Collation != nil {
			own = s.Collation
		}
		if !s.IsUnique || s.Partial != nil || s.Kind != index.Plain || len(s.Fields) != len(on) || !canonical.SameCollation(own, collator) {
			continue
		}
		if slices.ContainsFunc(on, func(path string) bool { return !s.Key.Has(path) }) {
			continue
		}
		if found = s; !s.Sparse {
			break
		}
	}
	return found
}

// mergeWriter applies the results of $merge one by one.
type mergeWriter struct {
	h      *Environment
	ns     storage.Namespace
	on     []string
	spec   *index.Spec // nil: the index on _id
	insert bool
	// scripted reports whether JavaScript makes the new document, outside of the write
	// lock.
	scripted bool
}

func (w *mergeWriter) On() []string { return w.on }

// Nullish implements agg.MergeWriter.
func (w *mergeWriter) Nullish() bool { return w.spec == nil || !w.spec.Sparse }

// Apply implements agg.MergeWriter. It writes all documents in one transaction. If that
// fails, it writes them one by one, so that only those with errors fail.
func (w *mergeWriter) Apply(docs []value.Doc, change func(i int, old value.Doc) (value.Doc, error)) error {
	apply := w.applyAll
	if w.scripted {
		apply = w.applyApart
	} else if err := apply(docs, change); err == nil || len(docs) == 1 {
		return err
	}
	var first error
	for i := range docs {
		err := apply(docs[i:i+1], func(_ int, old value.Doc) (value.Doc, error) { return change(i, old) })
		if err != nil && write.Fatal(err) {
			return err
		}
		if first == nil {
			first = err
		}
	}
	return first
}

func (w *mergeWriter) applyAll(docs []value.Doc, change func(i int, old value.Doc) (value.Doc, error)) error {
	c := w.h.Exec.Running()
	err := c.Update(func(tx storage.Tx) error {
		wr, err := w.writer(tx, false)
		if err != nil {
			return err
		}
		for i, d := range docs {
			if wr == nil {
				if wr, err = w.insertFirst(tx, func() (value.Doc, error) { return change(i, nil) }); err != nil {
					return err
				}
				continue
			}
			if err := w.apply(c, wr, d, func(old value.Doc) (value.Doc, error) { return change(i, old) }); err != nil {
				return err
			}
		}
		return nil
	})
	return kernel.Translate(w.ns, err)
}

// applyApart writes one document that JavaScript changes. It runs the script without the
// write lock, and writes the result if the stored document is still the same (see
// apart.go in package write).
func (w *mergeWriter) applyApart(docs []value.Doc, change func(i int, old value.Doc) (value.Doc, error)) error {
	for range write.MaxScriptRuns {
		seen, err := w.look(docs[0])
		if err != nil {
			return kernel.Translate(w.ns, err)
		}
		next, err := change(0, seen)
		if err != nil || next == nil {
			return err
		}
		stale := false
		err = w.applyAll(docs, func(_ int, old value.Doc) (value.Doc, error) {
			if stale = !bytes.Equal(old, seen); stale {
				return nil, nil
			}
			return next, nil
		})
		if err != nil || !stale {
			return err
		}
	}
	return kernel.Translate(w.ns, storage.ErrConflict)
}

// look returns the document that d is merged with, nil if no document matches.
func (w *mergeWriter) look(d value.Doc) (old value.Doc, err error) {
	c := w.h.Exec.Running()
	err = c.View(func(tx storage.Tx) error {
		old = nil
		coll, err := tx.Collection(w.ns)
		if errors.Is(err, storage.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		see := c.Visible(coll)
		r, _, err := w.find(see, d)
		old = see.Meta.Shown(r.Doc, r.TS)
		return err
	})
	return old, err
}

// writer opens the collection; nil if it does not exist and is not to be made.
func (w *mergeWriter) writer(tx storage.Tx, create bool) (*write.Writer, error) {
	c := w.h.Exec.Running()
	if _, err := tx.Collection(w.ns); errors.Is(err, storage.ErrNotFound) && !create {
		return nil, nil
	}
	coll, err := write.CollectionForInsert(c, tx, w.ns)
	if err != nil {
		return nil, err
	}
	return write.New(c, tx, coll, w.h.bypass), nil
}

// insertFirst inserts a document if the collection does not exist yet. It creates the
// collection, unless change returns no document.
func (w *mergeWriter) insertFirst(tx storage.Tx, change func() (value.Doc, error)) (*write.Writer, error) {
	next, err := change()
	if err != nil || next == nil {
		return nil, err
	}
	wr, err := w.writer(tx, true)
	if err != nil {
		return nil, err
	}
	if next, err = write.PrepareInsert(w.h.Exec.Running(), next); err == nil {
		_, err = wr.Insert(next)
	}
	return wr, err
}

// apply writes one document.
func (w *mergeWriter) apply(c *kernel.Call, wr *write.Writer, d value.Doc, change func(old value.Doc) (value.Doc, error)) error {
	old, found, err := w.find(wr.Sight(), d)
	if err != nil {
		return err
	}
	next, err := change(wr.Meta.Shown(old.Doc, old.TS))
	if err != nil || next == nil {
		return err
	}
	if found {
		return wr.Replace(old, next)
	}
	if next, err = write.PrepareInsert(c, next); err == nil {
		_, err = wr.Insert(next)
	}
	return err
}

// find looks the document up by the on-fields.
func (w *mergeWriter) find(see kernel.Visible, d value.Doc) (storage.Record, bool, error) {
	switch {
	case w.insert:
		return storage.Record{}, false, nil
	case w.spec == nil:
		return see.ByID(d.Lookup("_id"))
	}
	keys, _, err := w.spec.Keys(nil, storage.Record{Doc: d})
	if err != nil || len(keys) == 0 {
		return storage.Record{}, false, err
	}
	return see.Find(w.spec.Name, w.spec.Order(keys[0]))
}

func (w *mergeWriter) Close() error { return nil }
