package commands

import (
	"fmt"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// validation is one run of the validate command.
type validation struct {
	c        *Call
	info     *storage.Info
	meta     *collectionMeta
	records  int64
	invalid  int64
	failing  int64 // documents that the validator would refuse
	keys     map[string]int64
	problems []string
}

func (v *validation) problem(format string, args ...any) {
	if len(v.problems) < maxProblems {
		v.problems = append(v.problems, fmt.Sprintf(format, args...))
	}
}

func (v *validation) run() error {
	x := newExecution(v.c)
	src := newRecords(x, v.info, []scan{{}})
	// What is checked is what is stored, also where it has expired.
	src.stored, src.queue, src.expand = true, false, false
	env := v.c.newEnv()
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
		if v.meta.validator != nil {
			if ok, err := v.meta.validator.Match(env, v.shown(r.Doc)); err == nil && !ok {
				v.failing++
			}
		}
		if err := v.record(r); err != nil {
			return err
		}
	}
	return v.counts()
}

// shown is a record as its validator knows it.
func (v *validation) shown(d value.Doc) value.Doc {
	if v.meta.kind == timeSeriesBuckets {
		return shownBucket(d)
	}
	return d
}

// record checks that each index has the keys of the record.
func (v *validation) record(r storage.Record) error {
	return v.c.view(func(tx storage.Tx) error {
		coll, err := tx.Collection(v.info.Namespace)
		if err != nil {
			return err
		}
		if now, ok := coll.Get(r.ID); !ok || now.TS != r.TS || string(now.Doc) != string(r.Doc) {
			return nil // changed meanwhile
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

// has reports whether an index has a key of a record.
func (v *validation) has(coll storage.Collection, name string, key []byte, id storage.RecordID) (found bool, err error) {
	kr := storage.KeyRange{Lo: key, Hi: append(append([]byte(nil), key...), 0)}
	err = coll.ScanIndex(name, kr, func(_ []byte, other storage.RecordID) bool {
		found = other == id
		return !found
	})
	return found, err
}

// counts compares the number of keys seen with what the indexes hold. It can
// only be told when nobody wrote meanwhile.
func (v *validation) counts() error {
	return v.c.view(func(tx storage.Tx) error {
		coll, err := tx.Collection(v.info.Namespace)
		if err != nil || coll.Count() != v.records {
			return err
		}
		for i := range v.info.Indexes {
			name := v.info.Indexes[i].Name
			st, err := coll.IndexStats(name)
			if err != nil {
				return err
			}
			if st.Entries > v.keys[name] {
				v.problem("index %s has %d entries too many", name, st.Entries-v.keys[name])
			}
		}
		return nil
	})
}

func (v *validation) append(ns storage.Namespace, repairMode string) {
	b := v.c.reply
	b.String("ns", ns.String()).Append("uuid", value.Binary(4, v.info.UUID[:])).Append("nInvalidDocuments", value.Int(v.invalid)).
		Append("nNonCompliantDocuments", value.Int(v.failing)).Append("nrecords", value.Int(v.records)).
		Append("nIndexes", value.Int(int64(len(v.meta.listed))))
	b.StartDocument("keysPerIndex")
	for _, s := range v.meta.listed {
		keys := v.keys[s.Name]
		if s == v.meta.tsIndex { // each document has a _ts
			keys = v.records
		}
		b.Append(s.Name, value.Int(keys))
	}
	b.End()
	b.StartDocument("indexDetails")
	for _, s := range v.meta.listed {
		b.StartDocument(s.Name).Bool("valid", len(v.problems) == 0).Document("spec", s.Doc()).End()
	}
	b.End()
	b.Bool("valid", len(v.problems) == 0).Bool("repaired", false).String("repairMode", repairMode)
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
