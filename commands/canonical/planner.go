package canonical

import (
	"errors"

	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// LookupID is the plan of a query for one _id, which needs no choice; nil
// for any other.
func LookupID(q *plan.Query, m *catalog.Meta) *plan.Plan {
	for _, spec := range m.Indexes {
		if spec.IsID() {
			return plan.LookupID(q, spec.Plan())
		}
	}
	return nil
}

// HintOf reads the hint of a command, which [CheckHint] has passed.
func HintOf(v value.Value) (h plan.Hint) {
	switch v.Kind() {
	case value.KindString:
		h.Name, h.Nameless = v.Str(), v.Str() == ""
	case value.KindDocument:
		if n, ok := Natural(v.Doc()); ok {
			h.Natural = n
		} else if !v.Doc().IsEmpty() {
			h.Key = v.Doc()
		}
	}
	return h
}

// PlanCollection describes a collection to the planner, with the index of that
// name only unless it is "".
func PlanCollection(coll storage.Collection, info *storage.Info, only string) (*plan.Collection, error) {
	m := catalog.Of(info)
	count, err := coll.Count()
	if err != nil {
		return nil, err
	}
	pc := &plan.Collection{Count: count}
	room := make([]plan.Index, len(m.Indexes))
	pc.Indexes = make([]*plan.Index, 0, len(m.Indexes))
	for i, spec := range m.Indexes {
		name := spec.StoredName()
		if only != "" && name != only {
			continue
		}
		stats, err := coll.IndexStats(name)
		if errors.Is(err, storage.ErrNoIndex) {
			continue // dropped since info was read
		}
		if err != nil {
			return nil, err
		}
		if x := &room[i]; spec.PlanInto(x) {
			x.Multikey, x.Entries = plan.Multikey(stats.Multikey), stats.Entries
			pc.Indexes = append(pc.Indexes, x)
		}
	}
	pc.Estimate = func(x *plan.Index, r plan.Range, limit int64) (n int64) {
		// The error is ignored: an estimate affects only the choice of a plan. The plan
		// reads the index again and reports the error.
		_ = coll.ScanIndex(x.Name, storage.KeyRange{Lo: r.Lo, Hi: r.Hi}, func([]byte, storage.RecordID) bool {
			n++
			return n < limit
		})
		return n
	}
	return pc, nil
}
