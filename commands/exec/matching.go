package exec

import (
	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// RecordSource yields the records that match a query.
type RecordSource interface {
	Next() (storage.Record, bool, error) // the next record; false at the end
	Close()                              // releases what the source holds
}

// Matching passes on the records that match.
type Matching struct {
	Src RecordSource     // the records to match
	Q   *canonical.Query // the query whose matcher decides
	Env *expr.Env        // the environment of the matcher's expressions

	scan   *ScanIterator // Src as a scan; nil: it is something else
	run    *match.Run    // the matcher for many records; nil: there were few so far
	single int           // records matched one by one, before there was a run
}

// NewMatching makes the records of src that match a query.
func NewMatching(src RecordSource, q *canonical.Query, env *expr.Env) *Matching {
	f := &Matching{Src: src, Q: q, Env: env}
	f.scan, _ = src.(*ScanIterator)
	return f
}

// runFrom is how many records are matched one by one before there is a Run.
const runFrom = 16

// Next implements RecordSource.
func (f *Matching) Next() (storage.Record, bool, error) {
	if f.scan != nil {
		return f.nextOfScan()
	}
	for {
		r, ok, err := f.Src.Next()
		if err != nil || !ok {
			return r, false, err
		}
		if hit, err := f.matches(r.Doc); hit || err != nil {
			return r, hit && err == nil, err
		}
	}
}

// nextOfScan is Next for the records of a scan. It does not copy those that do not match.
func (f *Matching) nextOfScan() (storage.Record, bool, error) {
	r := f.scan
	call := r.x.Running()
	for {
		rec, err := r.advance(call)
		if rec == nil || err != nil {
			return storage.Record{}, false, err
		}
		if !r.sight.asStored() {
			shown := r.sight.shown(*rec)
			rec = &shown
		}
		hit := r.chunk.proven
		if !hit {
			if hit, err = f.matches(rec.Doc); err != nil {
				return storage.Record{}, false, err
			}
		}
		if hit {
			return *rec, true, nil
		}
	}
}

func (f *Matching) matches(d value.Doc) (bool, error) {
	if f.run != nil {
		return f.run.Match(f.Env, d)
	}
	if f.single++; f.single > runFrom {
		f.run = f.Q.Matcher.Run()
	}
	return f.Q.Matcher.Match(f.Env, d)
}

// batch appends the matching documents of the present chunk of a scan, or of a later one
// if it has none; at the end it appends nothing. A document with metadata is the last.
func (f *Matching) batch(docs []value.Doc) ([]value.Doc, error) {
	r := f.scan
	for {
		rec, ok, err := f.nextOfScan()
		if !ok || err != nil {
			return docs, err
		}
		docs = append(docs, rec.Doc)
		if r.chunk.proven || f.Q.Matcher.MatchesAll() {
			docs = r.takeChunk(docs)
		}
		if r.chunk.next >= len(r.chunk.records) || !f.Env.Meta.IsEmpty() {
			return docs, nil
		}
	}
}

// takeChunk appends the rest of the chunk, whose documents are all wanted, if clients see all
// of them as they are stored.
func (r *ScanIterator) takeChunk(docs []value.Doc) []value.Doc {
	call, c := r.x.Running(), &r.chunk
	rest := c.records[c.next:]
	if len(rest) == 0 || r.sight.covered || r.sight.mayHaveExpired(call.Now) || !r.sight.asStored() {
		return docs
	}
	for i := range rest {
		docs = append(docs, rest[i].Doc)
	}
	c.next = len(c.records)
	r.x.Stats.DocsExamined += int64(len(rest))
	call.Counts.Docs += int64(len(rest))
	if len(c.keys.ends) > 0 {
		r.x.key = r.currentKey()
	}
	return docs
}

// Close implements RecordSource.
func (f *Matching) Close() { f.Src.Close() }
