package stage

import (
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// Stage is one compiled stage. It is immutable: what changes during a run
// lives in the iterator that Open returns.
type Stage interface {
	// Name is the name the stage has in explain, with its $.
	Name() string
	// Open runs the stage over src.
	Open(x *Exec, src Iterator) (Iterator, error)
	// Spec is the stage's specification as explain shows it.
	Spec() value.Value
	// Deps adds to d the paths that the stage reads, and returns whether other fields of
	// its input are visible to the next stages.
	Deps(d *Deps) Reach
	// Effect says how the stage changes documents.
	Effect() Effect
}

// Reach says which fields of a stage's input the next stages can see.
type Reach byte

// The values of Reach.
const (
	SeesAll  Reach = iota // any field may pass
	SeesNone              // the output is made only of what the stage reads
)

// Deps collects the parts of its source's documents that a pipeline reads.
type Deps struct {
	Whole bool                // everything
	Paths map[string]struct{} // the paths, unless Whole
}

// Add notes that a path is read.
func (d *Deps) Add(path string) {
	if d.Paths == nil {
		d.Paths = map[string]struct{}{}
	}
	d.Paths[path] = struct{}{}
}

// All notes that whole documents are read.
func (d *Deps) All() { d.Whole = true }

// Effect says how a stage changes the documents that pass.
type Effect struct {
	Opaque   bool              // no stage can be moved across it
	Modified []string          // paths that it sets or removes
	Renamed  map[string]string // new name → name before, among modified
	KeepOnly []string          // the only paths that survive unchanged (inclusion), or nil
}

// Opaque is embedded by stages that need whole documents and across which no stage can
// be moved.
type Opaque struct{}

// Deps notes what the stage reads.
func (Opaque) Deps(d *Deps) Reach { d.All(); return SeesNone }

// Effect says what the stage changes.
func (Opaque) Effect() Effect { return Effect{Opaque: true} }

// Passive is embedded by stages that read and change no field.
type Passive struct{}

// Deps notes what the stage reads.
func (Passive) Deps(*Deps) Reach { return SeesAll }

// Effect says what the stage changes.
func (Passive) Effect() Effect { return Effect{Opaque: true} }

// ReadsMeta is a stage that reads metadata of documents.
type ReadsMeta interface {
	// Metadata lists the kinds that it reads.
	Metadata() []expr.MetaKind
}

// GivesMeta is a first stage that may give its documents metadata.
type GivesMeta interface {
	// Gives returns the kinds of metadata that it may provide. all reports that it may
	// provide any.
	Gives() (kinds []expr.MetaKind, all bool)
}

// OneForEach is a stage that may return exactly one document for each input document,
// independently of others, so that $limit and $skip can be moved in front of it.
type OneForEach interface {
	// OneForEach reports whether the stage does so.
	OneForEach() bool
}

// Writer is a stage that writes a collection.
type Writer interface {
	// WritesTo is the namespace that it writes.
	WritesTo() (db, coll string)
}

// Merger is a stage that merges documents into a collection.
type Merger interface {
	// MergesInto is the collection.
	MergesInto() MergeTarget
}

// Involves is a stage that reads or writes other collections.
type Involves interface {
	// Involved lists these as "db.coll".
	Involved() []string
}

// Measurable is a stage with more execution statistics than the number of documents and
// the time.
type Measurable interface {
	// AppendStats writes what the stage did during a run.
	AppendStats(b *value.Builder, st *Stats)
}
