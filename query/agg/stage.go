package agg

import (
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// stage is one compiled stage. It is immutable: what changes during a run
// lives in the iterator that open returns.
type stage interface {
	// name is the name the stage has in explain, with its $.
	name() string
	// open runs the stage over src.
	open(x *Exec, src Iterator) (Iterator, error)
	// spec is the stage's specification as explain shows it.
	spec() value.Value
	// deps notes what the stage reads of its input, and tells whether
	// other fields of the input are still visible behind it.
	deps(d *deps) reach
	// effect tells how the stage changes documents.
	effect() effect
}

// reach says what of a stage's input can be seen behind the stage.
type reach byte

const (
	seesAll  reach = iota // any field may pass
	seesNone              // the output is made only of what the stage reads
)

// deps collects what a pipeline reads of its source's documents.
type deps struct {
	whole bool                // everything
	paths map[string]struct{} // else these
}

func (d *deps) add(path string) {
	if d.paths == nil {
		d.paths = map[string]struct{}{}
	}
	d.paths[path] = struct{}{}
}

func (d *deps) all() { d.whole = true }

// effect says how a stage changes the documents that pass.
type effect struct {
	opaque   bool              // it may change anything, or the number or order of documents matters
	modified []string          // paths that it sets or removes
	renamed  map[string]string // new name → name before, among modified
	keepOnly []string          // if not nil, only these paths survive unchanged (inclusion)
}

// opaque is embedded by stages that nothing can be moved across and that
// need whole documents.
type opaque struct{}

func (opaque) deps(d *deps) reach { d.all(); return seesNone }
func (opaque) effect() effect     { return effect{opaque: true} }

// passive is embedded by stages that read and change no field.
type passive struct{}

func (passive) deps(*deps) reach { return seesAll }
func (passive) effect() effect   { return effect{opaque: true} }

// readsMeta is a stage that reads metadata of documents.
type readsMeta interface{ metadata() []expr.MetaKind }

// givesMeta is a first stage that may give its documents metadata; all says
// that what they have is not known.
type givesMeta interface {
	gives() (kinds []expr.MetaKind, all bool)
}

// oneForEach is a stage that may give exactly one document for each, without
// looking at others, so that $limit and $skip can stand before it as well.
type oneForEach interface{ oneForEach() bool }

// writer is a stage that writes a collection.
type writer interface {
	// writesTo is the namespace that it writes.
	writesTo() (db, coll string)
}

// merger is a stage that merges documents into a collection.
type merger interface{ mergesInto() MergeTarget }

// involves is a stage that reads or writes other collections.
type involves interface {
	// involved lists these as "db.coll".
	involved() []string
}

// measurable is a stage that explain tells more about than how many documents
// it returned, and in how much time.
type measurable interface {
	// appendStats writes what the stage did during a run.
	appendStats(b *value.Builder, st *Stats)
}
