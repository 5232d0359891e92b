package exec

import (
	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/storage"
)

// RecordSource yields the records that match a query.
type RecordSource interface {
	Next() (storage.Record, bool, error) // the next record; false at the end
	Close()                              // releases what the source holds
}

// Matching passes on the records that match.
type Matching struct {
	Src RecordSource     // the records to be judged
	Q   *canonical.Query // by whose matcher
	Env *expr.Env        // of the expressions of the matcher

	scan *ScanIterator // Src, if its entries may prove the match
}

// Next implements RecordSource.
func (f *Matching) Next() (storage.Record, bool, error) {
	for {
		r, ok, err := f.Src.Next()
		if err != nil || !ok {
			return r, false, err
		}
		if f.scan != nil && f.scan.proven {
			return r, true, nil
		}
		hit, err := f.Q.Matcher.Match(f.Env, r.Doc)
		if err != nil {
			return r, false, err
		}
		if hit {
			return r, true, nil
		}
	}
}

// Close implements RecordSource.
func (f *Matching) Close() { f.Src.Close() }
