package plan

import (
	"fmt"
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// badHint is mongod's error for a hint that matches no index.
func (q *Query) badHint() error {
	return q.failed(mongoerr.BadValue, "hint provided does not correspond to an existing index")
}

// failed returns a planner's error in the form that clients get.
func (q *Query) failed(code mongoerr.Code, reason string) error {
	return mongoerr.Newf(code, "error processing query: %s planner returned error :: caused by :: %s", q, reason)
}

// NoGeoIndex is mongod's error for a $near that no index can serve.
func (q *Query) NoGeoIndex() error {
	return q.failed(mongoerr.NoQueryExecutionPlans, "unable to find index for $geoNear query")
}

// String is the query as mongod's CanonicalQuery::toString prints it.
func (q *Query) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "ns=%s", q.NS)
	for _, n := range []struct {
		name  string
		value int64
	}{{"batchSize", q.Command.BatchSize}, {"limit", q.Command.Limit}, {"skip", q.Command.Skip}} {
		if n.value != 0 {
			fmt.Fprintf(&b, " %s=%d", n.name, n.value)
		}
	}
	tree := "$and\n"
	if q.Matcher != nil {
		tree = q.Matcher.DebugString()
	}
	fmt.Fprintf(&b, "Tree: %sSort: %s\nProj: %s\n", tree, orEmpty(q.Sort), orEmpty(q.Command.Projection))
	if !q.Collation.IsEmpty() {
		fmt.Fprintf(&b, "Collation: %s\n", q.Collation)
	}
	return b.String()
}

func orEmpty(d value.Doc) value.Doc {
	if d == nil {
		return value.EmptyDoc
	}
	return d
}

// hinted finds the index that the query's hint names; nil without a hint. A
// hidden index cannot be named.
func (pl *planner) hinted() (*Index, error) {
	h := pl.q.Hint
	if h.Nameless {
		return nil, pl.q.badHint()
	}
	if h.Name == "" && h.Key == nil {
		return nil, nil
	}
	var found *Index
	for _, x := range pl.coll.Indexes {
		if x.Hidden || h.Name != "" && x.Name != h.Name || h.Name == "" && !sameKey(x.Key, h.Key) {
			continue
		}
		if found != nil {
			return nil, mongoerr.Newf(mongoerr.IndexNotFound, "Hint matched multiple indexes, must hint by index name. Matched: %s and %s", found.Name, x.Name)
		}
		found = x
	}
	if found == nil {
		return nil, pl.q.badHint()
	}
	return found, nil
}

func sameKey(a, b value.Doc) bool { return value.CompareDocs(a, b, nil) == 0 }

// minMax plans a query with min() or max(): the range of the hinted index
// between the two.
func (pl *planner) minMax(x *Index) (*Plan, error) {
	q := pl.q
	if x == nil {
		return nil, q.failed(51173, "When using min()/max() a hint of which index to use must be provided")
	}
	p := wholeIndex(x)
	p.Whole = false
	r := Range{}
	var err error
	if !q.Min.IsEmpty() {
		if r.Lo, err = q.boundKey(x, q.Min); err != nil {
			return nil, err
		}
	}
	if !q.Max.IsEmpty() {
		if r.Hi, err = q.boundKey(x, q.Max); err != nil {
			return nil, err
		}
	}
	if !q.Min.IsEmpty() && !q.Max.IsEmpty() && string(r.Lo) >= string(r.Hi) {
		return nil, q.failed(51175, "The value provided for min() does not come before the value provided for max() in the hinted index")
	}
	p.Ranges = RangesOf(r)
	p.Examined = x.Entries
	p.min, p.max = q.Min, q.Max
	fields := make([]fieldBounds, len(x.Fields))
	for i := range fields {
		fields[i] = fieldBounds{set: all}
	}
	if x.Multikey == 0 {
		p.sort(q, fields, 0)
	}
	if !hasKind(x, Wildcard) {
		p.cover(q, pl.c)
	}
	return p, nil
}

// boundKey makes the key of a min() or max(), which must name the fields of
// the index in order.
func (q *Query) boundKey(x *Index, bound value.Doc) ([]byte, error) {
	var key []byte
	i := 0
	for path, v := range bound.All() {
		if i >= len(x.Fields) || x.Fields[i].Kind != Plain || x.Fields[i].Path != path {
			i = -1
			break
		}
		if x.Fields[i].Desc {
			key = value.AppendKeyDesc(key, v, x.Collation)
		} else {
			key = value.AppendKeyWith(key, v, x.Collation)
		}
		i++
	}
	if i != len(x.Fields) {
		return nil, q.failed(51174, "The index chosen is not compatible with min/max")
	}
	return key, nil
}
