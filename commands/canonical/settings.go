package canonical

import (
	"slices"
	"strings"

	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// HeedQuerySettings finds the query settings for the shape of a query before it runs. It
// refuses the query if the settings say so, unless the query is only explained.
func HeedQuerySettings(c *kernel.Call, query value.Doc, explained bool) error {
	cluster, err := c.ClusterSettings()
	if err != nil || len(cluster.Queries) == 0 {
		return err
	}
	c.Settings = cluster.Queries.Find(QueryShapeHash(c.DB, query))
	if c.Settings != nil && !explained && c.Settings.Settings.Lookup("reject").Truthy() {
		return mongoerr.New(mongoerr.QueryRejectedBySettings, "Query rejected by admin query settings")
	}
	return nil
}

// AllowedIndexes are the names, key patterns and $natural that the settings of
// the query allow on a collection; nil: they say nothing of it.
func AllowedIndexes(c *kernel.Call, ns storage.Namespace) value.Doc {
	if c.Settings == nil {
		return nil
	}
	for _, hint := range indexHints(c.Settings.Settings) {
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

// BySettings plans with the indexes that the settings allow. Without a plan that
// uses one of them the query is planned as if there were no settings: nil.
func BySettings(pq plan.Query, pc *plan.Collection, allowed value.Doc) *plan.Plan {
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

// CheckHash makes sure that a string can be the hash of a shape.
func CheckHash(hash string) error {
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
