package ddl

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/pipeline"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/query/index"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// RunValidate reads every record: whether it is sound BSON, whether every
// index has exactly its keys, and whether it passes the validator.
func RunValidate(c *kernel.Call) error {
	var a pipeline.ValidateArgs
	if err := pipeline.ValidateSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	if err := a.Check(c); err != nil {
		return err
	}
	ns, err := c.LiteralNamespace(a.Validate)
	if err != nil {
		return err
	}
	info, err := exec.Lookup(c, ns)
	if err != nil {
		return err
	}
	if info == nil {
		return mongoerr.Newf(mongoerr.NamespaceNotFound, "Collection '%s' does not exist to validate.", ns)
	}
	m := catalog.Of(info)
	if m.Kind == catalog.View {
		return mongoerr.Newf(mongoerr.CommandNotSupportedOnView, "Cannot validate a view: %s", ns)
	}
	if m.Kind == catalog.TimeSeries {
		if info, err = exec.Lookup(c, storage.Namespace{DB: ns.DB, Coll: reserved.Buckets(ns.Coll)}); err != nil {
			return err
		}
	}
	v := &validation{c: c, info: info, meta: catalog.Of(info), keys: map[string]int64{}}
	if a.Metadata {
		v.checkSpecs()
	} else if err := v.run(); errors.Is(err, storage.ErrDamaged) {
		v.problem("%s", mongoerr.TextOf(err))
	} else if err != nil {
		return kernel.Translate(ns, err)
	}
	v.append(ns, &a)
	return nil
}

// validation is one run of the validate command.
type validation struct {
	c        *kernel.Call
	info     *storage.Info
	meta     *catalog.Meta
	records  int64
	invalid  int64
	failing  int64 // documents that the validator would refuse
	keys     map[string]int64
	problems []string
}

func (v *validation) problem(format string, args ...any) {
	if len(v.problems) < pipeline.MaxProblems {
		v.problems = append(v.problems, fmt.Sprintf(format, args...))
	}
}

// checkSpecs checks the specifications of the indexes; no document is read.
func (v *validation) checkSpecs() {
	for _, s := range v.meta.Listed {
		if _, err := index.Load(s.Doc()); err != nil {
			v.problem("index %s: %v", s.Name, err)
		}
	}
}

func (v *validation) run() error {
	x := exec.NewExecution(v.c)
	src := exec.NewScanIterator(x, v.info, []exec.Scan{{}})
	// Stored documents are checked, including the expired ones.
	src.AsStored()
	env := exec.NewEnv(v.c)
	for {
		r, ok, err := src.Next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		v.records++
		if err := value.Validate(r.Doc); err != nil {
			v.invalid++
			v.problem("record %d: %v", r.ID, err)
			continue
		}
		if v.meta.Validator != nil {
			if ok, err := v.meta.Validator.Match(env, v.shown(r.Doc)); err != nil || !ok {
				v.failing++
			}
		}
		if err := v.record(r); err != nil {
			return err
		}
	}
	return v.counts()
}

// shown returns a document as the validator of the collection sees it.
func (v *validation) shown(d value.Doc) value.Doc {
	if v.meta.Kind == catalog.Buckets {
		return exec.ShownBucket(d)
	}
	return d
}

// record checks that each index has the keys of the record.
func (v *validation) record(r storage.Record) error {
	return v.c.View(func(tx storage.Tx) error {
		coll, err := catalog.Open(tx, v.info.Namespace)
		if err != nil {
			return err
		}
		now, ok, err := coll.Get(r.ID)
		if err != nil || !ok || now.TS != r.TS || string(now.Doc) != string(r.Doc) {
			return err // changed meanwhile
		}
		for i := range v.info.Indexes {
			line := &v.info.Indexes[i]
			keys, _, err := line.Index.Keys(nil, r)
			if err != nil {
				v.problem("record %d: index %s: %v", r.ID, line.Name, err)
				continue
			}
			v.keys[line.Name] += int64(len(keys))
			for _, key := range keys {
				found, err := v.has(coll, line.Name, key, r.ID)
				if err != nil {
					return err
				}
				if !found {
					v.problem("record %d: missing from index %s", r.ID, line.Name)
				}
			}
		}
		return nil
	})
}

// has reports whether an index has a key of a record. It begins where the entry should be:
// many records may have the same key.
func (v *validation) has(coll storage.Collection, name string, key []byte, id storage.RecordID) (found bool, err error) {
	kr := storage.KeyRange{Lo: key, Hi: append(append([]byte(nil), key...), 0), AfterKey: key, AfterID: id - 1}
	err = coll.ScanIndex(name, kr, func(_ []byte, other storage.RecordID) bool {
		found = other == id
		return false
	})
	return found, err
}

// counts compares what a collection counts, and what its indexes have, with its documents, in
// one state.
func (v *validation) counts() error {
	return v.c.View(func(tx storage.Tx) error {
		coll, err := catalog.Open(tx, v.info.Namespace)
		if err != nil {
			return err
		}
		records, size, keys, err := tally(coll)
		if err != nil {
			return err
		}
		if n, err := coll.Count(); err != nil || n != records {
			v.problem("the collection has %d documents and counts %d", records, n)
		}
		if n, err := coll.Size(); err != nil || n != size {
			v.problem("the documents have %d bytes, and the collection counts %d", size, n)
		}
		for i, x := range coll.Info().Indexes {
			if err := v.entries(coll, x.Name, keys[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// tally reads all documents: their number, their size, and how many keys each index should have.
func tally(coll storage.Collection) (records, size int64, keys []int64, err error) {
	indexes := coll.Info().Indexes
	keys = make([]int64, len(indexes))
	var buf [][]byte
	err = coll.Scan(storage.Range{}, func(r storage.Record) bool {
		records, size = records+1, size+int64(len(r.Doc))
		if value.Validate(r.Doc) != nil {
			return true // reported before
		}
		for i, x := range indexes {
			buf, _, _ = x.Index.Keys(buf[:0], r) // likewise
			slices.SortFunc(buf, bytes.Compare)
			keys[i] += int64(len(slices.CompactFunc(buf, bytes.Equal)))
		}
		return true
	})
	return records, size, keys, err
}

// entries compares the number of entries that an index has with the one that it should have,
// and with the one that it counts.
func (v *validation) entries(coll storage.Collection, name string, want int64) error {
	n := int64(0)
	err := coll.ScanIndex(name, storage.KeyRange{}, func([]byte, storage.RecordID) bool { n++; return true })
	if err != nil {
		return err
	}
	switch st, err := coll.IndexStats(name); {
	case err != nil:
		return err
	case n > want:
		v.problem("index %s has %d entries too many", name, n-want)
	case n < want:
		v.problem("index %s lacks %d entries", name, want-n)
	case !st.Estimate && st.Entries != n:
		v.problem("index %s has %d entries and counts %d", name, n, st.Entries)
	}
	return nil
}

func (v *validation) append(ns storage.Namespace, a *pipeline.ValidateArgs) {
	b := v.c.Reply
	b.String("ns", ns.String()).Append("uuid", value.Binary(4, v.info.UUID[:]))
	if !a.Metadata {
		b.Append("nInvalidDocuments", value.Int(v.invalid)).Append("nNonCompliantDocuments", value.Int(v.failing)).Append("nrecords", value.Int(v.records))
	}
	b.Append("nIndexes", value.Int(int64(len(v.meta.Listed))))
	if !a.Metadata {
		v.appendKeys(b)
	}
	b.StartDocument("indexDetails")
	for _, s := range v.meta.Listed {
		b.StartDocument(s.Name).Bool("valid", len(v.problems) == 0).Document("spec", s.Doc()).End()
	}
	b.End()
	b.Bool("valid", len(v.problems) == 0).Bool("repaired", false).String("repairMode", a.RepairMode())
	b.StartArray("warnings")
	if v.failing > 0 {
		b.String("", "Detected one or more documents not compliant with the collection's schema. Check logs for log id 5363500.")
	}
	b.End()
	b.StartArray("errors")
	for _, p := range v.problems {
		b.String("", p)
	}
	b.End()
	b.StartArray("extraIndexEntries").End()
	b.StartArray("missingIndexEntries").End()
	b.StartArray("corruptRecords").End()
}

// appendKeys writes how many keys each index has.
func (v *validation) appendKeys(b *value.Builder) {
	b.StartDocument("keysPerIndex")
	for _, s := range v.meta.Listed {
		keys := v.keys[s.Name]
		if s == v.meta.TSIndex { // each document has a _ts
			keys = v.records
		}
		b.Append(s.Name, value.Int(keys))
	}
	b.End()
}
