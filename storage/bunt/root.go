package bunt

import (
	"github.com/tidwall/btree"

	"github.com/duskdb/duskdb/storage"
)

// root is one committed state of all collections. It is immutable: readers
// load the pointer and need no lock, a writer publishes a new root.
//
// Most commits change the same few collections again and again, one of which is the change
// log. Their states are in a list beside the tree of all collections, so that such a
// commit copies no nodes of the tree.
type root struct {
	tree    *btree.BTreeG[catalogEntry] // of all collections by name
	private bool                        // the tree is this root's own
	latest  [latestColls]*coll          // changed last, newest first; some may be nil
	nextNum uint32                      // number of the next collection
	sets    int                         // how often a collection was changed since the fork
}

const (
	degree      = 8 // of the tree: small nodes make copies cheap
	latestColls = 4
)

// catalogEntry is a collection under its name.
type catalogEntry struct {
	ns   storage.Namespace
	coll *coll // nil if it is among the latest: the tree must not keep an old state of it
}

func catalogLess(a, b catalogEntry) bool {
	if a.ns.DB != b.ns.DB {
		return a.ns.DB < b.ns.DB
	}
	return a.ns.Coll < b.ns.Coll
}

func newRoot() *root {
	return &root{
		tree:    btree.NewBTreeGOptions(catalogLess, btree.Options{Degree: degree, NoLocks: true}),
		private: true,
		nextNum: 1,
	}
}

// fork returns a copy-on-write copy of a published state.
func (r *root) fork() *root {
	return &root{tree: r.tree, latest: r.latest, nextNum: r.nextNum}
}

// own returns the tree to be changed. Copy gives the tree it copies a new identity too,
// which would be a race between two writers that fork the same tree; so it is called on a
// private header.
func (r *root) own() *btree.BTreeG[catalogEntry] {
	if !r.private {
		header := *r.tree
		r.tree, r.private = header.Copy(), true
	}
	return r.tree
}

// get returns the collection of this name, or nil.
func (r *root) get(ns storage.Namespace) *coll {
	if i := r.position(ns); i >= 0 {
		return r.latest[i]
	}
	e, _ := r.tree.Get(catalogEntry{ns: ns})
	return e.coll
}

// position is where a collection is among the latest, -1 if it is not.
func (r *root) position(ns storage.Namespace) int {
	for i, c := range &r.latest {
		if c != nil && c.info.Namespace == ns {
			return i
		}
	}
	return -1
}

// each calls fn with the collections from a name on, in the order of their names, until it
// returns false.
func (r *root) each(from storage.Namespace, fn func(*coll) bool) {
	r.tree.Ascend(catalogEntry{ns: from}, func(e catalogEntry) bool {
		c := e.coll
		if c == nil {
			c = r.latest[r.position(e.ns)]
		}
		return fn(c)
	})
}

// all calls fn with all collections.
func (r *root) all(fn func(*coll)) {
	r.each(storage.Namespace{}, func(c *coll) bool { fn(c); return true })
}

// set puts a new state of a collection, or a new collection, under its name.
func (r *root) set(c *coll) {
	r.sets++
	i := r.position(c.info.Namespace)
	if i < 0 {
		i = latestColls - 1
		tree := r.own()
		if old := r.latest[i]; old != nil {
			tree.Set(catalogEntry{ns: old.info.Namespace, coll: old})
		}
		tree.Set(catalogEntry{ns: c.info.Namespace})
	}
	copy(r.latest[1:i+1], r.latest[:i])
	r.latest[0] = c
}

// remove takes a collection out.
func (r *root) remove(ns storage.Namespace) {
	r.sets++
	if i := r.position(ns); i >= 0 {
		r.latest[i] = nil
	}
	r.own().Delete(catalogEntry{ns: ns})
}

// find finds the latest state of base under its name, or under the name that a
// transaction has given it.
func (r *root) find(ns storage.Namespace, base *coll) *coll {
	for _, name := range []storage.Namespace{ns, base.info.Namespace} {
		if c := r.get(name); c != nil && c.num == base.num {
			return c
		}
	}
	return nil
}
