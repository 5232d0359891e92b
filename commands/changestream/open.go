package changestream

import (
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/changestream/token"
	"github.com/duskdb/duskdb/commands/clustertime"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/commands/pipeline"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Stream reads the change log as events. Between commands it holds nothing but its
// position.
type Stream struct {
	x  *exec.Execution
	ns storage.Namespace // no Coll: a database; empty: the cluster
	w  *oplog.Watcher
	oplog.Interest

	full, before string // fullDocument and fullDocumentBeforeChange
	expanded     bool
	raw          bool // updates are shown as the log has them
	system       bool // collections of the server are shown too
	matchUUID    bool

	pos      storage.RecordID // the last log entry that was read
	seen     uint64           // its timestamp
	from     uint64           // events before this time are not for the stream
	partial  []token.LogOp    // operations of a transaction whose last entry is still to come
	queue    []token.LogOp    // operations that are still to be delivered
	Resume   *Resumption      // where the stream resumes; nil once it is past that event
	made     value.Doc        // token of the last event that entered the pipeline
	named    token.Token      // what that token says
	split    bool             // the event is given in fragments
	token    value.Doc        // token of the last event delivered
	previous value.Doc        // token of the event before that
	idle     bool             // all that there is has been delivered
	closed   bool             // the last event was an invalidation
}

// Open opens the source of a pipeline that begins with
// $changeStream.
func Open(h *pipeline.Environment, x *agg.Exec, s agg.Special) (agg.Iterator, error) {
	c := h.Exec.Running()
	cs := &Stream{x: h.Exec, ns: storage.Namespace{DB: s.DB, Coll: s.Coll}}
	cs.Interest = oplog.Interest{Events: s.Events, Collation: h.Exec.Env.Collation}
	if err := cs.readOptions(c, s.Spec); err != nil {
		return nil, err
	}
	if err := cs.checkNamespace(c); err != nil {
		return nil, err
	}
	cs.w = c.Svc.Oplog.Join(cs.ns, cs.Interest)
	if err := cs.position(c, s.Spec); err != nil {
		cs.Close()
		return nil, err
	}
	if cs.expanded {
		c.Svc.Metrics.ChangeStreams.Expanded.Add(1)
	}
	c.Stream, x.FragmentID = cs, cs.fragmentToken
	return cs, nil
}

func (cs *Stream) readOptions(c *kernel.Call, spec value.Doc) error {
	if spec.Lookup("allChangesForCluster").Truthy() {
		cs.ns = storage.Namespace{}
	}
	cs.full, cs.before = spec.Lookup("fullDocument").Str(), spec.Lookup("fullDocumentBeforeChange").Str()
	cs.expanded, cs.matchUUID = spec.Lookup("showExpandedEvents").Truthy(), spec.Lookup("matchCollectionUUIDForUpdateLookup").Truthy()
	cs.raw, cs.system = spec.Lookup("showRawUpdateDescription").Truthy(), spec.Lookup("showSystemEvents").Truthy()
	switch c.Generic.Level {
	case "", "majority":
		return nil
	}
	return mongoerr.Newf(mongoerr.InvalidOptions, "Aggregate command cannot run with a readConcern other than 'majority', or with a provenance other than 'clientSupplied', for $changeStream. Found: { level: \"%s\" }", c.Generic.Level)
}

func (cs *Stream) checkNamespace(c *kernel.Call) error {
	switch db := cs.ns.DB; {
	case db == "local" || db == "config" || db == "admin": // a stream of the cluster omits these databases
		return mongoerr.Newf(mongoerr.InvalidNamespace, "$changeStream may not be opened on the internal %s database", db)
	case cs.ns.Coll == "":
		return nil
	}
	info, err := exec.Lookup(c, cs.ns)
	if err != nil {
		return err
	}
	switch {
	case catalog.Of(info).Kind == catalog.View:
		return catalog.NotOnView(cs.ns)
	case catalog.Of(info).Kind == catalog.TimeSeries:
		return mongoerr.Newf(mongoerr.CommandNotSupportedOnView, "Namespace %s is a timeseries collection", cs.ns)
	case catalog.IsSystem(cs.ns.Coll):
		return mongoerr.Newf(mongoerr.InvalidNamespace, "$changeStream may not be opened on the internal %s collection", cs.ns)
	}
	return nil
}

// position finds where in the log the stream begins.
func (cs *Stream) position(c *kernel.Call, spec value.Doc) error {
	if err := cs.readResume(spec); err != nil {
		return err
	}
	c.Svc.Oplog.NoteReader(c.Ctx)
	return c.Svc.Engine.View(c.Ctx, func(tx storage.Tx) error {
		coll, err := tx.Collection(oplog.Namespace)
		if err != nil {
			return err
		}
		tail, err := newest(coll)
		if err != nil {
			return err
		}
		c.Svc.Oplog.JoinedAt(cs.w, tail.ID)
		if cs.from == 0 {
			cs.pos, cs.seen = tail.ID, clustertime.Of(tail.Doc.Lookup("ts"))
			cs.from = cs.seen + 1
			return nil
		}
		return cs.seek(coll)
	})
}

// readResume reads the option that says where to begin.
func (cs *Stream) readResume(spec value.Doc) error {
	if at, ok := spec.Get("startAtOperationTime"); ok {
		cs.from = max(clustertime.Of(at), 1)
		return nil
	}
	for _, name := range []string{"resumeAfter", "startAfter"} {
		v, ok := spec.Get(name)
		if !ok {
			continue
		}
		t, err := token.Decode(v.Doc())
		if err != nil {
			return err
		}
		if t.FromInvalidate && name == "resumeAfter" {
			return mongoerr.New(mongoerr.InvalidResumeToken, "Attempting to resume a change stream using 'resumeAfter' is not allowed from an invalidate notification.")
		}
		cs.from = max(t.TS, 1)
		if t.Event {
			cs.Resume, cs.token = newResumption(&t, v.Doc()), v.Doc().Clone()
		}
	}
	return nil
}

// seek finds the first entry at or after the start time of the stream, by binary search:
// record ids grow with timestamps.
func (cs *Stream) seek(coll storage.Collection) error {
	entry := func(after storage.RecordID) (r storage.Record, err error) {
		err = coll.Scan(storage.Range{After: after}, func(rec storage.Record) bool { r = rec; return false })
		return r, err
	}
	first, err := entry(0)
	if err != nil {
		return err
	}
	oldest := clustertime.Of(first.Doc.Lookup("ts"))
	if cs.from < oldest && first.Doc.Lookup("op").Str() != "n" {
		return mongoerr.New(mongoerr.ChangeStreamHistoryLost, HistoryLost).WithPrefix(exec.AggregationFailed(cs.x.Running(), cs.ns))
	}
	last, err := newest(coll)
	if err != nil {
		return err
	}
	lo, hi := first.ID-1, last.ID // the entry behind lo may be it; those from hi on are not before
	for lo < hi {
		mid := lo + (hi-lo)/2
		r, err := entry(mid)
		if err != nil {
			return err
		}
		if r.ID != 0 && clustertime.Of(r.Doc.Lookup("ts")) < cs.from {
			lo = r.ID
		} else {
			hi = mid
		}
	}
	cs.pos = lo
	r, ok, err := coll.Get(lo)
	if ok {
		cs.seen = clustertime.Of(r.Doc.Lookup("ts"))
	}
	return err
}

// newest reads the last entry of the log; the zero Record if it is empty.
func newest(log storage.Collection) (last storage.Record, err error) {
	err = log.Scan(storage.Range{Reverse: true}, func(r storage.Record) bool { last = r; return false })
	return last, err
}

// Close ends the stream.
func (cs *Stream) Close() {
	if cs.w != nil {
		svc(cs.x).Oplog.Leave(cs.w)
		cs.w = nil
	}
	cs.queue, cs.partial = nil, nil
}

func svc(x *exec.Execution) *kernel.Service { return x.Running().Svc }

// AppendToken writes postBatchResumeToken: where to resume behind the batch
// that the client gets.
func (cs *Stream) AppendToken(b *value.Builder, peeked bool) {
	switch {
	case peeked && cs.previous != nil:
		b.Document("postBatchResumeToken", cs.previous)
	case cs.token == nil || cs.idle && !cs.closed && cs.mark() > cs.delivered():
		t := token.Token{TS: max(cs.mark(), cs.from)}
		b.Document("postBatchResumeToken", t.Encode())
	default:
		b.Document("postBatchResumeToken", cs.progress())
	}
}

// progress returns the later of two tokens: that of the last event delivered, and a
// high-water mark for the last event that the pipeline filtered out. The token of a
// filtered event itself could not be used: a stream with this pipeline never finds it.
func (cs *Stream) progress() value.Doc {
	if cs.made == nil {
		return cs.token
	}
	left, _ := token.Decode(cs.made)
	mark := token.Token{TS: left.TS}
	if t := mark.Encode(); TokenText(t) > TokenText(cs.token) {
		return t
	}
	return cs.token
}

// mark is the time before which the stream has seen everything.
func (cs *Stream) mark() uint64 { return cs.seen + 1 }

// delivered is the time up to which the last event's own token is good
// enough.
func (cs *Stream) delivered() uint64 {
	t, _ := token.Decode(cs.token)
	return t.TS + 1
}

// Ended reports whether the stream has delivered its last event.
func (cs *Stream) Ended() bool { return cs.closed }

// Wait returns a channel that is closed when there may be a new event. It returns nil if
// the stream is closed, or if there may be entries for it of writers that do not know it;
// then the caller waits for any change of the log.
func (cs *Stream) Wait() <-chan struct{} {
	if cs.w == nil || cs.w.Newest.Load() > cs.pos {
		return nil
	}
	return cs.w.Wait()
}

// Changed is closed when there may be something new for a cursor that waits.
func Changed(c *kernel.Call, cur *kernel.Cursor) <-chan struct{} {
	if cur.Stream != nil {
		if ch := cur.Stream.Wait(); ch != nil {
			return ch
		}
	}
	return c.Svc.Changes.Wait()
}
