package exec

import (
	"errors"
	"strings"

	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/cluster"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Lookup returns the description of a collection, nil if it does not exist.
func Lookup(c *kernel.Call, ns storage.Namespace) (info *storage.Info, err error) {
	if ns.DB == "config" {
		if info, err := cluster.View(c, ns); info != nil || err != nil {
			return info, err
		}
	}
	err = c.View(func(tx storage.Tx) error {
		info = nil
		coll, err := catalog.Open(tx, ns)
		switch {
		case err == nil:
			info = coll.Info()
		case errors.Is(err, storage.ErrNotFound):
			return nil
		}
		return err
	})
	return info, err
}

// TextIndex is the text index of a collection, or of the one under a view, for
// $text in pipelines.
func TextIndex(c *kernel.Call, db, coll string) match.TextMatcher {
	info, err := underViews(c, storage.Namespace{DB: db, Coll: coll})
	if err != nil {
		return catalog.PlainText
	}
	return catalog.Of(info).TextMatcher()
}

// CheckViewCollation refuses to read a view by another collation than its
// own, which its pipeline was made for.
func CheckViewCollation(ns storage.Namespace, info *storage.Info, collator value.Collator) error {
	if m := catalog.Of(info); m.Kind == catalog.View && !canonical.SameCollation(m.Collator(), collator) {
		return mongoerr.Newf(mongoerr.OptionNotSupportedOnView, "Cannot override a view's default collation%s", ns)
	}
	return nil
}

// ListedBucketIndexes returns the indexes of a time series as its users have specified
// them.
func ListedBucketIndexes(c *kernel.Call, info *storage.Info) ([]value.Doc, error) {
	buckets, err := Lookup(c, canonical.BucketsOf(info.Namespace))
	if err != nil {
		return nil, err
	}
	var docs []value.Doc
	for _, spec := range catalog.Of(buckets).Indexes {
		if d, ok := catalog.Of(info).Series.UserIndex(spec.Doc()); ok {
			docs = append(docs, d)
		}
	}
	return docs, nil
}

// MaxViewDepth is how deep views may be nested.
const MaxViewDepth = 20

// underViews returns the underlying collection of a view, through any number of views.
func underViews(c *kernel.Call, ns storage.Namespace) (*storage.Info, error) {
	for range MaxViewDepth {
		info, err := Lookup(c, ns)
		if err != nil || catalog.Of(info).Kind != catalog.View {
			return info, err
		}
		ns.Coll = strings.Clone(catalog.Of(info).ViewOn)
	}
	return nil, nil // refused where the view is opened
}
