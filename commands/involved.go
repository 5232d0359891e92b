package commands

import (
	"strings"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// checkInvolved checks what a pipeline may do to the collections and views
// that it reads and writes, before it runs.
func (c *Call) checkInvolved(ns storage.Namespace, p *agg.Pipeline, collator value.Collator) error {
	if err := c.checkMergeFields(p, collator); err != nil {
		return err
	}
	names := p.Namespaces()
	if ns.Coll != "" {
		names = append(names, ns.String())
	}
	for _, name := range names {
		db, coll, _ := strings.Cut(name, ".")
		in := storage.Namespace{DB: db, Coll: coll}
		info, err := c.lookup(in)
		if err != nil {
			return err
		}
		if err := checkViewCollation(in, info, collator); err != nil {
			return err
		}
	}
	return nil
}

// checkViewCollation refuses to read a view by another collation than its
// own, which its pipeline was made for.
func checkViewCollation(ns storage.Namespace, info *storage.Info, collator value.Collator) error {
	if m := metaOf(info); m.kind == view && !sameCollation(m.collator(), collator) {
		return mongoerr.Newf(mongoerr.OptionNotSupportedOnView, "Cannot override a view's default collation%s", ns)
	}
	return nil
}
