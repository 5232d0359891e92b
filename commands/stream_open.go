package commands

import (
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// changeStream reads the change log as events. Between commands it holds
// nothing but its position.
type changeStream struct {
	x  *execution
	ns storage.Namespace // no Coll: a database; empty: the cluster
	w  *watcher
	interest

	full, before string // fullDocument and fullDocumentBeforeChange
	expanded     bool
	raw          bool // updates are shown as the log has them
	system       bool // collections of the server are shown too
	matchUUID    bool

	pos      storage.RecordID // the last log entry that was read
	seen     uint64           // its timestamp
	from     uint64           // events before this time are not for the stream
	partial  []logOp          // operations of a transaction whose last entry is still to come
	queue    []logOp          // operations that are still to be delivered
	resume   *resumption      // where it goes on; nil: it is past that
	made     value.Doc        // token of the last event that entered the pipeline
	named    tokenData        // what that token says
	split    bool             // the event is given in fragments
	token    value.Doc        // of the last event delivered
	previous value.Doc        // of the one before
	idle     bool             // all that there is has been delivered
	closed   bool             // the last event was an invalidation
}

// openChangeStream opens the source of a pipeline that begins with
// $changeStream.
func openChangeStream(h *host, x *agg.Exec, s agg.Special) (agg.Iterator, error) {
	c := h.x.running()
	if c.svc.oplog.off {
		return nil, mongoerr.New(40573, "The $changeStream stage is only supported on replica sets")
	}
	cs := &changeStream{x: h.x, ns: storage.Namespace{DB: s.DB, Coll: s.Coll}}
	cs.interest = interest{events: s.Events, collation: h.x.env.Collation}
	if err := cs.readOptions(c, s.Spec); err != nil {
		return nil, err
	}
	if err := cs.checkNamespace(c); err != nil {
		return nil, err
	}
	cs.w = c.svc.oplog.join(cs.ns, cs.interest)
	if err := cs.position(c, s.Spec); err != nil {
		cs.Close()
		return nil, err
	}
	if cs.expanded {
		c.svc.metrics.changeStreams.expanded.Add(1)
	}
	c.stream, x.FragmentID = cs, cs.fragmentToken
	return cs, nil
}

func (cs *changeStream) readOptions(c *Call, spec value.Doc) error {
	if spec.Lookup("allChangesForCluster").Truthy() {
		cs.ns = storage.Namespace{}
	}
	cs.full, cs.before = spec.Lookup("fullDocument").Str(), spec.Lookup("fullDocumentBeforeChange").Str()
	cs.expanded, cs.matchUUID = spec.Lookup("showExpandedEvents").Truthy(), spec.Lookup("matchCollectionUUIDForUpdateLookup").Truthy()
	cs.raw, cs.system = spec.Lookup("showRawUpdateDescription").Truthy(), spec.Lookup("showSystemEvents").Truthy()
	switch c.generic.level {
	case "", "majority":
		return nil
	}
	return mongoerr.Newf(mongoerr.InvalidOptions, "Aggregate command cannot run with a readConcern other than 'majority', or with a provenance other than 'clientSupplied', for $changeStream. Found: { level: \"%s\" }", c.generic.level)
}

func (cs *changeStream) checkNamespace(c *Call) error {
	switch db := cs.ns.DB; {
	case db == "local" || db == "config" || db == "admin": // a stream of the cluster has none
		return mongoerr.Newf(mongoerr.InvalidNamespace, "$changeStream may not be opened on the internal %s database", db)
	case cs.ns.Coll == "":
		return nil
	}
	info, err := c.lookup(cs.ns)
	if err != nil {
		return err
	}
	switch {
	case metaOf(info).kind == view:
		return errIsView(cs.ns)
	case metaOf(info).kind == timeSeries:
		return mongoerr.Newf(mongoerr.CommandNotSupportedOnView, "Namespace %s is a timeseries collection", cs.ns)
	case isSystem(cs.ns.Coll):
		return mongoerr.Newf(mongoerr.InvalidNamespace, "$changeStream may not be opened on the internal %s collection", cs.ns)
	}
	return nil
}

func isSystem(coll string) bool { return len(coll) > 7 && coll[:7] == "system." }

// position finds where in the log the stream begins.
func (cs *changeStream) position(c *Call, spec value.Doc) error {
	if err := cs.readResume(spec); err != nil {
		return err
	}
	c.svc.oplog.noteReader(c.ctx)
	return c.svc.engine.View(c.ctx, func(tx storage.Tx) error {
		coll, err := tx.Collection(oplogNS)
		if err != nil {
			return err
		}
		tail, _ := coll.Get(coll.LastID())
		cs.w.since(tail.ID)
		if cs.from == 0 {
			cs.pos, cs.seen = tail.ID, stampOf(tail.Doc.Lookup("ts"))
			cs.from = cs.seen + 1
			return nil
		}
		return cs.seek(coll)
	})
}

// readResume reads the option that says where to begin.
func (cs *changeStream) readResume(spec value.Doc) error {
	if at, ok := spec.Get("startAtOperationTime"); ok {
		cs.from = max(stampOf(at), 1)
		return nil
	}
	for _, name := range []string{"resumeAfter", "startAfter"} {
		v, ok := spec.Get(name)
		if !ok {
			continue
		}
		t, err := decodeToken(v.Doc())
		if err != nil {
			return err
		}
		if t.fromInvalidate && name == "resumeAfter" {
			return mongoerr.New(mongoerr.InvalidResumeToken, "Attempting to resume a change stream using 'resumeAfter' is not allowed from an invalidate notification.")
		}
		cs.from = max(t.ts, 1)
		if t.event {
			cs.resume, cs.token = newResumption(&t, v.Doc()), v.Doc().Clone()
		}
	}
	return nil
}

// seek finds the first entry at or after the time the stream begins at.
// Record ids grow with timestamps, so the place is found by halving.
func (cs *changeStream) seek(coll storage.Collection) error {
	entry := func(after storage.RecordID) (r storage.Record, err error) {
		err = coll.Scan(storage.Range{After: after}, func(rec storage.Record) bool { r = rec; return false })
		return r, err
	}
	first, err := entry(0)
	if err != nil {
		return err
	}
	oldest := stampOf(first.Doc.Lookup("ts"))
	if cs.from < oldest && first.Doc.Lookup("op").Str() != "n" {
		return mongoerr.New(mongoerr.ChangeStreamHistoryLost, historyLost).WithPrefix(aggregationFailed)
	}
	lo, hi := first.ID-1, coll.LastID() // the entry behind lo may be it; those from hi on are not before
	for lo < hi {
		mid := lo + (hi-lo)/2
		r, err := entry(mid)
		if err != nil {
			return err
		}
		if r.ID != 0 && stampOf(r.Doc.Lookup("ts")) < cs.from {
			lo = r.ID
		} else {
			hi = mid
		}
	}
	cs.pos = lo
	if r, ok := coll.Get(lo); ok {
		cs.seen = stampOf(r.Doc.Lookup("ts"))
	}
	return nil
}

// Close ends the stream.
func (cs *changeStream) Close() {
	if cs.w != nil {
		cs.x.svc().oplog.leave(cs.w)
		cs.w = nil
	}
	cs.queue, cs.partial = nil, nil
}

func (x *execution) svc() *Service { return x.running().svc }

// appendToken writes postBatchResumeToken: where to resume behind the batch
// that the client gets.
func (cs *changeStream) appendToken(b *value.Builder, peeked bool) {
	switch {
	case peeked && cs.previous != nil:
		b.Document("postBatchResumeToken", cs.previous)
	case cs.token == nil || cs.idle && !cs.closed && cs.mark() > cs.delivered():
		t := tokenData{ts: max(cs.mark(), cs.from)}
		b.Document("postBatchResumeToken", t.encode())
	default:
		b.Document("postBatchResumeToken", cs.progress())
	}
}

// progress is the later of two tokens: that of the last event delivered, and
// the time of the last one that the pipeline left out, whose own token no
// stream with this pipeline could be resumed behind.
func (cs *changeStream) progress() value.Doc {
	if cs.made == nil {
		return cs.token
	}
	left, _ := decodeToken(cs.made)
	mark := tokenData{ts: left.ts}
	if t := mark.encode(); tokenText(t) > tokenText(cs.token) {
		return t
	}
	return cs.token
}

// mark is the time before which the stream has seen everything.
func (cs *changeStream) mark() uint64 { return cs.seen + 1 }

// delivered is the time up to which the last event's own token is good
// enough.
func (cs *changeStream) delivered() uint64 {
	t, _ := decodeToken(cs.token)
	return t.ts + 1
}

// ended reports whether the stream has delivered its last event.
func (cs *changeStream) ended() bool { return cs.closed }

// wait returns nil for a stream that is closed.
func (cs *changeStream) wait() <-chan struct{} {
	if cs.w == nil {
		return nil
	}
	return cs.w.wait()
}

// changed is closed when there may be something new for a cursor that waits.
func (c *Call) changed(cur *cursor) <-chan struct{} {
	if cur.stream != nil {
		if ch := cur.stream.wait(); ch != nil {
			return ch
		}
	}
	return c.svc.changes.wait()
}
