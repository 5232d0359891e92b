package bunt

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kv"
	"github.com/duskdb/duskdb/storage/internal/mem"
	"github.com/duskdb/duskdb/value"
)

// Repair describes what Options.Repair salvaged of a damaged log, and what is
// lost.
type Repair struct {
	Offset      int64  // where the damage begins
	Kept        string // where the damaged file is now
	Commits     int64  // commits that were saved
	LostCommits int64  // commits known to be lost; there may be more at the end
	LostBytes   int64  // bytes of the file that could not be read
	LostRecords int64  // records dropped because newer ones contradict them
	Unknown     int64  // lost commits without a readable byte
	Losses      []Loss // by collection, as far as the damaged bytes show

	ops    *lostOps
	losses map[uint32]*Loss
}

// Loss describes what a collection has lost.
type Loss struct {
	Namespace    storage.Namespace // zero if it is not known
	Missing      int64             // documents that were inserted
	Outdated     int64             // documents whose last change is lost
	Back         int64             // deleted documents that exist again
	Contradicted int64             // documents dropped because newer ones contradict them
	Adopted      int64             // documents found without a collection, kept in this one
	Catalog      []string          // changes of the collection itself
}

// String returns a summary in one line.
func (r *Repair) String() string {
	return fmt.Sprintf("the log was damaged at byte %d: saved %d commits, lost %d commits (%d bytes) and %d records that contradict later ones; the damaged file is kept as %s",
		r.Offset, r.Commits, r.LostCommits, r.LostBytes, r.LostRecords, r.Kept)
}

// Details describes the losses, one line for each collection.
func (r *Repair) Details() (lines []string) {
	for i := range r.Losses {
		lines = append(lines, r.Losses[i].String())
	}
	if r.Unknown > 0 {
		lines = append(lines, fmt.Sprintf("%d lost commits cannot be read at all: documents and changes of any collection may be missing, and deleted documents may be back", r.Unknown))
	}
	return lines
}

// String returns a summary in one line.
func (l *Loss) String() string {
	var parts []string
	count := func(n int64, what string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	count(l.Adopted, "documents, whose collection is lost, are kept here")
	count(l.Missing, "documents are missing")
	count(l.Outdated, "documents have an earlier content")
	count(l.Back, "deleted documents are back")
	count(l.Contradicted, "documents were dropped because newer ones contradict them")
	parts = append(parts, l.Catalog...)
	name := l.Namespace.String()
	if l.Namespace == (storage.Namespace{}) {
		name = "a collection whose name is lost"
	}
	return name + ": " + strings.Join(parts, "; ")
}

func (l *Loss) none() bool {
	return l.Missing+l.Outdated+l.Back+l.Contradicted+l.Adopted == 0 && len(l.Catalog) == 0
}

// loss returns the entry for the losses of a collection.
func (r *Repair) loss(num uint32) *Loss {
	if r.losses == nil {
		r.losses = map[uint32]*Loss{}
	}
	if r.losses[num] == nil {
		r.losses[num] = &Loss{}
	}
	return r.losses[num]
}

// account compares the lost operations with the state that was made of the others: l is what
// was read, and done what was changed to make it agree.
func (r *Repair) account(e *Engine, l loaded, done *kv.Repair) {
	r.Unknown = max(0, r.LostCommits-r.ops.groups)
	for num, n := range done.Adopted {
		r.loss(num).Adopted = n
	}
	for num, n := range done.Contradicted {
		r.loss(num).Contradicted = n
		r.LostRecords += n
	}
	for num, ns := range done.Names {
		r.loss(num).Namespace = ns
	}
	state := e.store.snapshot()
	for rec, deleted := range r.ops.records {
		there := state.Record(rec.num, rec.id) != nil
		loss := r.loss(rec.num)
		switch {
		case deleted && there:
			loss.Back++
		case !deleted && there:
			loss.Outdated++
		case !deleted:
			loss.Missing++
		}
	}
	for num, ops := range r.ops.catalog {
		r.accountCatalog(described(state, num), r.loss(num), ops)
	}
	for _, num := range slices.Sorted(maps.Keys(r.losses)) {
		loss := r.losses[num]
		if info := described(state, num); info != nil && loss.Namespace == (storage.Namespace{}) {
			loss.Namespace = info.Namespace
		}
		if !loss.none() {
			r.Losses = append(r.Losses, *loss)
		}
	}
	r.ops, r.losses = nil, nil
}

// described returns the description of a collection, nil if it has none.
func described(state *mem.Snapshot, num uint32) *storage.Info {
	if entry := state.Catalog(num); entry != nil {
		return parseCatalog(num, entry)
	}
	return nil
}

func parseCatalog(num uint32, entry []byte) *storage.Info {
	if c, err := kv.ParseCatalog(num, entry); err == nil {
		return c.Info
	}
	return nil
}

// accountCatalog notes which changes of a collection itself were lost. info is what it has now,
// nil if it does not exist.
func (r *Repair) accountCatalog(info *storage.Info, loss *Loss, ops []op) {
	last := ops[len(ops)-1]
	var had *storage.Info
	if !last.del && value.Validate(value.Doc(last.value)) == nil {
		had = parseCatalog(last.num, value.StringView(last.value))
	}
	note := func(format string, args ...any) { loss.Catalog = append(loss.Catalog, fmt.Sprintf(format, args...)) }
	switch {
	case last.del && info != nil:
		note("it was dropped, and is back")
	case last.del:
	case had == nil:
		note("a change of its options or indexes is lost")
	case info == nil:
		loss.Namespace = had.Namespace
		note("the collection itself is lost")
	default:
		for _, text := range lostChanges(had, info, loss.Adopted > 0) {
			note("%s", text)
		}
	}
}

// lostChanges lists what a lost catalog entry contains and the present one
// does not.
func lostChanges(had, have *storage.Info, adopted bool) (texts []string) {
	if had.Namespace != have.Namespace {
		what := "it was called"
		if adopted {
			what = "they were in"
		}
		texts = append(texts, what+" "+had.Namespace.String())
	}
	for name, v := range had.Options.All() {
		if now := have.Options.Lookup(name); now.String() != v.String() {
			texts = append(texts, "lost option "+name+": "+shortened(v.String()))
		}
	}
	for _, x := range had.Indexes {
		if now := have.Index(x.Name); now == nil {
			texts = append(texts, "lost index "+x.Name+": "+shortened(x.Spec.String()))
		} else if now.Spec.String() != x.Spec.String() {
			texts = append(texts, "lost a change of index "+x.Name+": "+shortened(x.Spec.String()))
		}
	}
	for _, x := range have.Indexes {
		if had.Index(x.Name) == nil && !adopted {
			texts = append(texts, "index "+x.Name+" was dropped, and is back")
		}
	}
	for name := range have.Options.All() {
		if !had.Options.Has(name) && !adopted {
			texts = append(texts, "option "+name+" was removed, and is back")
		}
	}
	return texts
}

// shortened truncates a text for display.
func shortened(s string) string {
	const most = 300
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
