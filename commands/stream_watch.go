package commands

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// watchers are the change streams that wait, in groups of those that want
// the same.
type watchers struct {
	streams atomic.Int32
	mu      sync.Mutex
	groups  map[storage.Namespace][]*watcher
	marks   uint64 // transactions that marked entries
}

// watcher is a group of change streams that wait for entries about the same
// namespace, with the same conditions. A write tells the group, not each of
// its streams.
type watcher struct {
	ns       storage.Namespace // no Coll: of a database; empty: all
	interest                   // of the writers, under the lock of watchers
	streams  int
	marked   uint64       // number of the transaction that marked it last
	relevant atomic.Int64 // the newest entry that concerns it
	*broadcast
	sharedEvents
}

// interest is what the $match behind $changeStream says of the events that
// can get through. It is asked before an event is made, and before a stream is
// woken for it.
type interest struct {
	events    *match.Matcher // nil: all
	collation value.Collator
	verdicts  map[eventName]bool
}

// eventName is what an interest judges by.
type eventName struct {
	kind, ns string
}

// maxVerdicts bounds what an interest remembers.
const maxVerdicts = 1000

// wants reports whether an operation on a document can be of interest.
func (i *interest) wants(op value.Doc) bool {
	if i.events == nil {
		return true
	}
	name := eventName{documentEvent(op), op.Lookup("ns").Str()}
	wanted, ok := i.verdicts[name]
	if !ok {
		if i.verdicts == nil || len(i.verdicts) >= maxVerdicts {
			i.verdicts = map[eventName]bool{}
		}
		wanted = i.judge(name)
		name.ns = strings.Clone(name.ns)
		i.verdicts[name] = wanted
	}
	return wanted
}

// judge asks the filter. What it cannot tell is of interest.
func (i *interest) judge(name eventName) bool {
	db, coll, _ := strings.Cut(name.ns, ".")
	b := value.NewBuilder()
	b.String("operationType", name.kind).StartDocument("ns").String("db", db).String("coll", coll).End()
	env := expr.NewEnv(0)
	env.Bare = true
	env.Collation = i.collation
	ok, err := i.events.Match(env, b.Doc())
	return ok || err != nil
}

// same reports whether two interests are one.
func (i *interest) same(other *interest) bool {
	if i.events == nil || other.events == nil {
		return i.events == other.events
	}
	return i.collation == other.collation && string(i.events.Filter()) == string(other.events.Filter())
}

// join adds a stream to those that are told, from now on.
func (ws *watchers) join(ns storage.Namespace, want interest) *watcher {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.streams.Add(1)
	for _, w := range ws.groups[ns] {
		if w.same(&want) {
			w.streams++
			return w
		}
	}
	w := &watcher{ns: ns, interest: want, streams: 1, broadcast: newBroadcast()}
	if ws.groups == nil {
		ws.groups = map[storage.Namespace][]*watcher{}
	}
	ws.groups[ns] = append(ws.groups[ns], w)
	return w
}

// leave takes a stream out.
func (ws *watchers) leave(w *watcher) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.streams.Add(-1)
	if w.streams--; w.streams > 0 {
		return
	}
	rest := slices.DeleteFunc(ws.groups[w.ns], func(other *watcher) bool { return other == w })
	if ws.groups[w.ns] = rest; len(rest) == 0 {
		delete(ws.groups, w.ns)
	}
}

// since says that up to an entry nobody has told what concerns the group: one
// of its streams came later.
func (w *watcher) since(id storage.RecordID) {
	for {
		old := w.relevant.Load()
		if old >= int64(id) || w.relevant.CompareAndSwap(old, int64(id)) {
			return
		}
	}
}

// mark tells the streams that an entry concerns, before the entry can be
// seen: a stream that finds itself unmarked may skip what it has not read.
func (ws *watchers) mark(r *recorder, id storage.RecordID, first, end int) {
	if ws.streams.Load() == 0 {
		return
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if r.marking == 0 {
		ws.marks++
		r.marking = ws.marks
	}
	var before storage.Namespace
	var concerned [3][]*watcher
	for i := first; i < end; i++ {
		m := &r.marks[i]
		if m.command {
			for ns, groups := range ws.groups {
				if m.about(ns, r.op(i)) {
					markAll(groups, r, id, nil)
				}
			}
			continue
		}
		if m.ns != before {
			before = m.ns
			concerned = [...][]*watcher{ws.groups[storage.Namespace{}], ws.groups[storage.Namespace{DB: m.ns.DB}], ws.groups[m.ns]}
		}
		for _, groups := range concerned {
			markAll(groups, r, id, r.op(i))
		}
	}
}

// markAll marks those groups that want an operation; nil stands for one that
// concerns them whatever they want.
func markAll(groups []*watcher, r *recorder, id storage.RecordID, op value.Doc) {
	for _, w := range groups {
		if w.relevant.Load() == int64(id) && w.marked == r.marking || op != nil && !w.wants(op) {
			continue
		}
		w.relevant.Store(int64(id))
		if w.marked != r.marking {
			w.marked = r.marking
			r.woken = append(r.woken, w)
		}
	}
}

// about reports whether a command may concern those who watch a namespace.
func (m *loggedOp) about(ns storage.Namespace, op value.Doc) bool {
	if name, _ := op.Lookup("o").Doc().First(); name == "renameCollection" { // there are two namespaces
		return true
	}
	return (ns.DB == "" || ns.DB == m.ns.DB) && (ns.Coll == "" || m.ns.Coll == "" || ns.Coll == m.ns.Coll)
}
