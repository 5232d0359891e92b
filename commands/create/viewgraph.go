package create

import (
	"slices"
	"strings"

	"github.com/duskdb/duskdb/commands/canonical"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/query/collation"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// viewGraph checks a new view and the views that it reads, directly or indirectly. They
// must have the same collation and must not form a cycle. Collections that they read may
// be of any kind and need not exist.
type viewGraph struct {
	c    *kernel.Call
	root storage.Namespace
	col  *collation.Collation
	path []storage.Namespace // the views from the root to the current one
}

// checkViewGraph compiles the pipeline of a view, and checks it against the
// views that it reads and those that read it.
func checkViewGraph(c *kernel.Call, ns storage.Namespace, on string, pipeline value.Doc, col *collation.Collation) error {
	reads, err := viewReads(c, ns, on, pipeline)
	if err != nil {
		return inViewContext(ns, err)
	}
	g := &viewGraph{c: c, root: ns, col: col, path: []storage.Namespace{ns}}
	if err := g.walk(reads); err != nil {
		return err
	}
	return g.checkReaders()
}

// viewReads returns the collections that a view reads: the one that it is on, and those
// of its stages.
func viewReads(c *kernel.Call, ns storage.Namespace, on string, pipeline value.Doc) ([]storage.Namespace, error) {
	reads := []storage.Namespace{{DB: ns.DB, Coll: on}}
	if pipeline == nil {
		return reads, nil
	}
	p, err := agg.Compile(pipeline, agg.Options{DB: ns.DB, Coll: on, View: ns.String(), Scope: c.Svc.RootScope(), Text: catalog.AnyText, NoStreams: c.Svc.Oplog.Off})
	if err != nil {
		return nil, err
	}
	for _, name := range p.Namespaces() {
		db, coll, _ := strings.Cut(name, ".")
		reads = append(reads, storage.Namespace{DB: db, Coll: coll})
	}
	return reads, nil
}

func (g *viewGraph) walk(reads []storage.Namespace) error {
	for _, ns := range reads {
		if ns == g.root {
			return g.cycle()
		}
		if len(g.path) > exec.MaxViewDepth {
			return mongoerr.Newf(mongoerr.ViewDepthLimitExceeded, "View depth limit exceeded; maximum depth is %d", exec.MaxViewDepth)
		}
		info, err := exec.Lookup(g.c, ns)
		if err != nil {
			return err
		}
		m := catalog.Of(info)
		if m.Kind != catalog.View || slices.Contains(g.path, ns) {
			continue
		}
		if err := g.agrees(ns, m); err != nil {
			return err
		}
		next, err := viewReads(g.c, ns, m.ViewOn, m.Pipeline)
		if err != nil {
			return err
		}
		g.path = append(g.path, ns)
		if err := g.walk(next); err != nil {
			return err
		}
		g.path = g.path[:len(g.path)-1]
	}
	return nil
}

func (g *viewGraph) cycle() error {
	var names strings.Builder
	for _, ns := range g.path {
		names.WriteString(ns.String() + " => ")
	}
	return mongoerr.Newf(mongoerr.GraphContainsCycle, "View cycle detected: %s%s", &names, g.root)
}

// agrees compares the collation with that of another view.
func (g *viewGraph) agrees(ns storage.Namespace, m *catalog.Meta) error {
	var col value.Collator
	if g.col != nil {
		col = g.col
	}
	if canonical.SameCollation(col, m.Collator()) {
		return nil
	}
	return mongoerr.Newf(mongoerr.OptionNotSupportedOnView, "View %s has conflicting collation with view %s", g.root, ns)
}

// checkReaders compares the collation with those of the views that read the new one.
func (g *viewGraph) checkReaders() error {
	var infos []*storage.Info
	if err := g.c.View(func(tx storage.Tx) (err error) { infos, err = tx.Collections(g.root.DB); return err }); err != nil {
		return err
	}
	for _, info := range infos {
		m := catalog.Of(info)
		if m.Kind != catalog.View || info.Namespace == g.root {
			continue
		}
		reads, err := viewReads(g.c, info.Namespace, m.ViewOn, m.Pipeline)
		if err != nil || !slices.Contains(reads, g.root) {
			continue // a view that no longer compiles reads nothing
		}
		if err := g.agrees(info.Namespace, m); err != nil {
			return err
		}
	}
	return nil
}
