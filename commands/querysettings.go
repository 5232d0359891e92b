package commands

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// querySettings are what administrators have set for shapes of queries: which
// indexes they may use, or that they are refused. They are kept as mongod keeps
// them, in one document among the cluster parameters.
type querySettings struct {
	any  atomic.Bool // cheap to ask, for those who have none
	mu   sync.Mutex
	list []*querySetting
}

// querySetting is what holds for one shape.
type querySetting struct {
	hash           string
	settings       value.Doc
	representative value.Doc // the query it was set with; nil if only the hash was known
}

// querySettingsID is the _id of the document that keeps them.
const querySettingsID = "querySettings"

func (s *querySettings) load(d value.Doc) {
	s.list = nil
	for v := range d.Lookup("settingsArray").Doc().Values() {
		e := v.Doc()
		s.list = append(s.list, &querySetting{
			hash: strings.Clone(e.Lookup("queryShapeHash").Str()), settings: e.Lookup("settings").Doc().Clone(), representative: e.Lookup("representativeQuery").Doc().Clone(),
		})
	}
	s.any.Store(len(s.list) > 0)
}

func (s *querySettings) find(hash string) *querySetting {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range s.list {
		if q.hash == hash {
			return q
		}
	}
	return nil
}

func (s *querySettings) all() []*querySetting {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.list)
}

// appendTo writes what commands and the stage show of it.
func (q *querySetting) appendTo(b *value.Builder) {
	b.String("queryShapeHash", q.hash).Document("settings", q.settings)
	if !q.representative.IsEmpty() {
		b.Document("representativeQuery", q.representative)
	}
}

// put keeps the settings of a shape in the place of those it had, if any; nil
// settings: none are left.
func (c *Call) putQuerySetting(hash string, q *querySetting) error {
	s := &c.svc.settled().queries
	s.mu.Lock()
	defer s.mu.Unlock()
	list := slices.Clone(s.list)
	if i := slices.IndexFunc(list, func(x *querySetting) bool { return x.hash == hash }); i >= 0 {
		list = slices.Delete(list, i, i+1)
	}
	if q != nil {
		list = append(list, q)
	}
	b := value.NewBuilder()
	b.String("_id", querySettingsID).StartArray("settingsArray")
	for _, x := range list {
		b.StartDocument("")
		x.appendTo(b)
		b.End()
	}
	b.End()
	b.Append("clusterParameterTime", c.svc.nextTimestamp(c.now))
	if err := c.keep(clusterHome, b.Doc()); err != nil {
		return err
	}
	s.list = list
	s.any.Store(len(list) > 0)
	return nil
}

// heedQuerySettings finds what was set for the shape of a query before it runs,
// and refuses it if that is the setting. An explained query is only told.
func (c *Call) heedQuerySettings(query value.Doc, explained bool) error {
	s := &c.svc.settled().queries
	if !s.any.Load() {
		return nil
	}
	c.settings = s.find(queryShapeHash(c.DB, query))
	if c.settings != nil && !explained && c.settings.settings.Lookup("reject").Truthy() {
		return mongoerr.New(mongoerr.QueryRejectedBySettings, "Query rejected by admin query settings")
	}
	return nil
}

// allowedIndexes are the names, key patterns and $natural that the settings of
// the query allow on a collection; nil: they say nothing of it.
func (c *Call) allowedIndexes(ns storage.Namespace) value.Doc {
	if c.settings == nil {
		return nil
	}
	for _, hint := range indexHints(c.settings.settings) {
		at := hint.Lookup("ns").Doc()
		if at.Lookup("db").Str() == ns.DB && at.Lookup("coll").Str() == ns.Coll {
			return hint.Lookup("allowedIndexes").Doc()
		}
	}
	return nil
}

// indexHints are the hints for each collection: one document, or an array.
func indexHints(settings value.Doc) []value.Doc {
	v := settings.Lookup("indexHints")
	if v.Kind() == value.KindDocument {
		return []value.Doc{v.Doc()}
	}
	var list []value.Doc
	for e := range v.Doc().Values() {
		list = append(list, e.Doc())
	}
	return list
}

// bySettings plans with the indexes that the settings allow. Without a plan that
// uses one of them the query is planned as if there were no settings: nil.
func bySettings(pq plan.Query, pc *plan.Collection, allowed value.Doc) *plan.Plan {
	only := *pc
	only.Indexes = slices.DeleteFunc(slices.Clone(pc.Indexes), func(x *plan.Index) bool { return !allowsIndex(allowed, x) })
	pq.Hint = plan.Hint{}
	if n := allowedNatural(allowed); n != 0 && len(only.Indexes) == 0 {
		pq.Hint.Natural = n
	}
	p, err := plan.Make(&pq, &only)
	if err != nil || p.Type == plan.CollScan && allowedNatural(allowed) == 0 {
		return nil
	}
	return p
}

func allowsIndex(allowed value.Doc, x *plan.Index) bool {
	for v := range allowed.Values() {
		if v.Kind() == value.KindString && v.Str() == x.Name || v.Kind() == value.KindDocument && value.CompareDocs(v.Doc(), x.Key, nil) == 0 {
			return true
		}
	}
	return false
}

func allowedNatural(allowed value.Doc) int {
	for v := range allowed.Values() {
		if n, ok := v.Doc().Get("$natural"); ok {
			return int(n.SafeInt64())
		}
	}
	return 0
}

// checkHash makes sure that a string can be the hash of a shape.
func checkHash(hash string) error {
	for _, r := range hash {
		if !strings.ContainsRune("0123456789abcdefABCDEF", r) {
			return mongoerr.Newf(mongoerr.BadValue, "Invalid hex character in %q", hash)
		}
	}
	if len(hash) != 64 {
		return mongoerr.Newf(mongoerr.InvalidLength, "Invalid hex string length for query shape hash: %d", len(hash))
	}
	return nil
}
