package oplog

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/duskdb/duskdb/commands/broadcast"
	"github.com/duskdb/duskdb/commands/changestream/token"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// watchers are the waiting change streams, in groups with the same interest.
type watchers struct {
	streams atomic.Int32
	offered newestEntry // the newest entry offered to the groups, visible or not
	mu      sync.Mutex
	Groups  map[storage.Namespace][]*Watcher // the groups by the namespace that they watch
	marks   uint64                           // number of transactions that marked entries
}

// Watcher is a group of change streams that wait for entries about the same namespace, with
// the same conditions. A write signals the group, not each of its streams.
type Watcher struct {
	ns       storage.Namespace // no Coll: of a database; empty: all
	Interest                   // the common conditions; used by writers, who hold the lock of watchers
	Streams  int               // number of streams in the group
	marked   uint64            // the number of the transaction that marked it last
	Newest   newestEntry       // the newest matching entry
	*broadcast.Broadcast
	sharedEvents
}

// newestEntry is the newest of the entries that it was raised to.
type newestEntry struct{ id atomic.Int64 }

// Load returns the id of the entry.
func (n *newestEntry) Load() storage.RecordID { return storage.RecordID(n.id.Load()) }

// raise makes id the newest entry unless there is a newer one.
func (n *newestEntry) raise(id storage.RecordID) {
	for old := n.id.Load(); old < int64(id) && !n.id.CompareAndSwap(old, int64(id)); old = n.id.Load() {
	}
}

// Interest has the conditions of the $match behind $changeStream. It is checked before an
// event is made, and before a stream is woken.
type Interest struct {
	Events    *match.Matcher // nil: all
	Collation value.Collator // the collation of the filter
	verdicts  map[eventName]bool
}

// eventName has the fields of an event that an interest depends on.
type eventName struct {
	kind, ns string
}

// maxVerdicts bounds the cached results of an interest.
const maxVerdicts = 1000

// Wants reports whether an operation on a document can be of interest.
func (i *Interest) Wants(op value.Doc) bool {
	if i.Events == nil {
		return true
	}
	name := eventName{token.DocumentEvent(op), op.Lookup("ns").Str()}
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

// judge applies the filter. If the filter fails, the event is of interest.
func (i *Interest) judge(name eventName) bool {
	db, coll, _ := strings.Cut(name.ns, ".")
	b := value.NewBuilder()
	b.String("operationType", name.kind).StartDocument("ns").String("db", db).String("coll", coll).End()
	env := expr.NewEnv(0)
	env.Bare = true
	env.Collation = i.Collation
	ok, err := i.Events.Match(env, b.Doc())
	return ok || err != nil
}

// same reports whether two interests are equal.
func (i *Interest) same(other *Interest) bool {
	if i.Events == nil || other.Events == nil {
		return i.Events == other.Events
	}
	return i.Collation == other.Collation && string(i.Events.Filter()) == string(other.Events.Filter())
}

// Join adds a stream to the group with this namespace and interest.
func (ws *watchers) Join(ns storage.Namespace, want Interest) *Watcher {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.streams.Add(1)
	for _, w := range ws.Groups[ns] {
		if w.same(&want) {
			w.Streams++
			return w
		}
	}
	w := &Watcher{ns: ns, Interest: want, Streams: 1, Broadcast: broadcast.New()}
	if ws.Groups == nil {
		ws.Groups = map[storage.Namespace][]*Watcher{}
	}
	ws.Groups[ns] = append(ws.Groups[ns], w)
	return w
}

// Leave removes a stream from its group.
func (ws *watchers) Leave(w *Watcher) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.streams.Add(-1)
	if w.Streams--; w.Streams > 0 {
		return
	}
	rest := slices.DeleteFunc(ws.Groups[w.ns], func(other *Watcher) bool { return other == w })
	if ws.Groups[w.ns] = rest; len(rest) == 0 {
		delete(ws.Groups, w.ns)
	}
}

// JoinedAt records that the entries up to id, the newest one that is visible, are not
// marked for the group, since one of its streams joined later. Nor are those of writers
// that have offered them, and run still or are committing.
func (ws *watchers) JoinedAt(w *Watcher, id storage.RecordID) {
	w.Newest.raise(max(id, ws.offered.Load()))
}

// mark marks the groups that an entry concerns, before the entry becomes visible. A stream
// whose group is not marked may skip the entries that it has not read. A writer that does
// not see a new group has offered the entry before, so JoinedAt counts it.
func (ws *watchers) mark(ops *operations, streams *markedStreams, id storage.RecordID, first, end int) {
	ws.offered.raise(id)
	if ws.streams.Load() == 0 {
		return
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if streams.number == 0 {
		ws.marks++
		streams.number = ws.marks
	}
	var before storage.Namespace
	var concerned [3][]*Watcher
	for i := first; i < end; i++ {
		m := &ops.Marks[i]
		if m.Command {
			for ns, groups := range ws.Groups {
				if m.about(ns, ops.Op(i)) {
					streams.add(groups, id, nil)
				}
			}
			continue
		}
		if m.ns != before {
			before = m.ns
			concerned = [...][]*Watcher{ws.Groups[storage.Namespace{}], ws.Groups[storage.Namespace{DB: m.ns.DB}], ws.Groups[m.ns]}
		}
		for _, groups := range concerned {
			streams.add(groups, id, ops.Op(i))
		}
	}
}

// markedStreams are the groups of streams that the entries of one transaction concern.
type markedStreams struct {
	number uint64 // the transaction among those that marked entries; 0: none was marked
	groups []*Watcher
}

// add marks the groups with an interest in an operation. If op is nil, it marks all
// groups.
func (s *markedStreams) add(groups []*Watcher, id storage.RecordID, op value.Doc) {
	for _, w := range groups {
		if w.Newest.Load() == id && w.marked == s.number || op != nil && !w.Wants(op) {
			continue
		}
		w.Newest.raise(id)
		if w.marked != s.number {
			w.marked = s.number
			s.groups = append(s.groups, w)
		}
	}
}

// wake wakes the groups.
func (s *markedStreams) wake() {
	for _, w := range s.groups {
		w.Signal()
	}
}

// clear forgets the groups, and keeps the memory.
func (s *markedStreams) clear() {
	clear(s.groups)
	s.number, s.groups = 0, s.groups[:0]
}

// about reports whether a command may concern the streams on a namespace.
func (m *LoggedOp) about(ns storage.Namespace, op value.Doc) bool {
	if name, _ := op.Lookup("o").Doc().First(); name == "renameCollection" { // a rename concerns two namespaces
		return true
	}
	return (ns.DB == "" || ns.DB == m.ns.DB) && (ns.Coll == "" || m.ns.Coll == "" || ns.Coll == m.ns.Coll)
}
