package changestream

import (
	"cmp"

	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/changestream/token"
	"github.com/duskdb/duskdb/commands/clustertime"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Bounds of what one look at the log reads.
const (
	streamEntries = 512
	streamOps     = 1000
)

// Next returns the next event, nil if there is no new event yet.
func (cs *Stream) Next() (value.Doc, error) {
	for {
		if len(cs.queue) == 0 {
			if cs.closed {
				return nil, nil
			}
			more, err := cs.fill()
			if err != nil {
				return nil, err
			}
			if len(cs.queue) == 0 {
				if !more {
					cs.idle = true
					return nil, nil
				}
				continue
			}
		}
		o := cs.queue[0]
		cs.queue = cs.queue[1:]
		e, err := cs.event(&o)
		if err != nil || e != nil {
			cs.idle = false
			return e, err
		}
	}
}

// fill reads entries of the log that concern the stream. more reports whether there are
// further entries.
func (cs *Stream) fill() (more bool, err error) {
	c := cs.x.Running()
	if err := c.Interrupted(); err != nil {
		return false, err
	}
	err = c.Svc.Engine.View(c.Ctx, func(tx storage.Tx) error {
		coll, err := tx.Collection(oplog.Namespace)
		if err != nil {
			return err
		}
		more = false
		return cs.read(tx, coll, &more)
	})
	return more, err
}

func (cs *Stream) read(tx storage.Tx, coll storage.Collection, more *bool) error {
	tail, err := coll.LastID()
	if err != nil || tail == cs.pos {
		return err
	}
	if s := svc(cs.x); s.Shared {
		if err := s.Oplog.Examine(coll, tail); err != nil {
			return err
		}
	}
	if cs.skips() { // nothing until the tail concerns the stream
		r, err := newest(coll)
		if err != nil {
			return err
		}
		cs.pos, cs.seen = tail, max(cs.seen, clustertime.Of(r.Doc.Lookup("ts")))
		return nil
	}
	read, checked := 0, cs.pos == 0
	var lost error
	err = coll.Scan(storage.Range{After: cs.pos}, func(r storage.Record) bool {
		if !checked && r.ID > cs.pos+1 {
			if lost = cs.checkLost(tx, coll); lost != nil {
				return false
			}
		}
		checked = true
		cs.entry(r.Doc)
		cs.pos, cs.seen = r.ID, clustertime.Of(r.Doc.Lookup("ts"))
		read++
		*more = read >= streamEntries || len(cs.queue) >= streamOps
		return !*more
	})
	if err == nil && lost == nil && !checked { // the log has no entry behind the position
		lost = cs.checkLost(tx, coll)
	}
	return cmp.Or(err, lost)
}

// checkLost fails if entries behind the stream's position have been removed
// from the log. The oldest go first, so this need not be asked while the entry at
// the position is there.
func (cs *Stream) checkLost(tx storage.Tx, coll storage.Collection) error {
	if _, there, err := coll.Get(cs.pos); there || err != nil {
		return err
	}
	trimmed, err := oplog.Trimmed(tx)
	if err == nil && trimmed > cs.pos {
		err = mongoerr.New(mongoerr.ChangeStreamHistoryLost, HistoryLost)
	}
	return err
}

// skips reports whether no entry between the stream's position and the tail concerns the
// stream, according to the marks of writers.
func (cs *Stream) skips() bool { return cs.w.Newest.Load() <= cs.pos && cs.partial == nil }

// entry takes from one log entry what concerns the stream.
func (cs *Stream) entry(d value.Doc) {
	base := token.LogOp{TS: clustertime.Of(d.Lookup("ts")), Wall: d.Lookup("wall").DateTime()}
	base.ImageTS = base.TS
	o := d.Lookup("o").Doc()
	list := o.Lookup("applyOps")
	if list.IsMissing() {
		base.Op = d
		cs.offer(base)
		return
	}
	base.LSID, base.Txn = d.Lookup("lsid").Doc(), d.Lookup("txnNumber")
	ops := cs.partial
	i := len(ops)
	at := 0
	for v := range list.Doc().Values() {
		one := base
		one.Op, one.Index, one.Image = v.Doc(), i, at
		ops = append(ops, one)
		i, at = i+1, at+1
	}
	if o.Lookup("partialTxn").Truthy() {
		cs.partial = ops
		return
	}
	cs.partial = nil
	for _, one := range ops { // all have the time of the commit
		one.TS, one.Wall = base.TS, base.Wall
		cs.offer(one)
	}
}

// offer queues an operation if the stream is to show it.
func (cs *Stream) offer(o token.LogOp) {
	if o.TS < cs.from || !cs.concerns(o.Op) {
		return
	}
	cs.queue = append(cs.queue, o)
	if cs.invalidates(o.Op) {
		o.Invalidate = true
		cs.queue = append(cs.queue, o)
	}
}

// concerns reports whether an operation is within the stream's namespace.
func (cs *Stream) concerns(op value.Doc) bool {
	switch op.Lookup("op").Str() {
	case "n":
		return cs.expanded && token.IsShardEvent(op) && cs.covers(op.Lookup("ns").Str())
	case "c":
		return cs.concernsCommand(op)
	}
	return cs.covers(op.Lookup("ns").Str()) && cs.Wants(op)
}

// covers reports whether a collection "db.coll" is one the stream watches.
func (cs *Stream) covers(full string) bool {
	if cs.ns.Coll != "" {
		n := len(cs.ns.DB)
		return len(full) == n+1+len(cs.ns.Coll) && full[:n] == cs.ns.DB && full[n] == '.' && full[n+1:] == cs.ns.Coll
	}
	ns, err := catalog.ParseNamespace(full)
	if err != nil || catalog.IsSystem(ns.Coll) && !cs.system {
		return false
	}
	if cs.ns.DB != "" {
		return ns.DB == cs.ns.DB
	}
	return ns.DB != "admin" && ns.DB != "config" && ns.DB != "local"
}

// concernsCommand reports whether an entry about a collection or database concerns the
// stream.
func (cs *Stream) concernsCommand(op value.Doc) bool {
	name, v := op.Lookup("o").Doc().First()
	db := commandDB(op)
	if cs.ns.Coll != "" && op.Lookup("ui").IsMissing() { // a view
		return false
	}
	switch name {
	case "drop":
		return cs.covers(db + "." + v.Str())
	case "renameCollection":
		return cs.covers(v.Str()) || cs.covers(op.Lookup("o").Doc().Lookup("to").Str())
	case "dropDatabase":
		return cs.ns.Coll == "" && (cs.ns.DB == "" || cs.ns.DB == db)
	case "collMod":
		changed := !op.Lookup("ui").IsMissing() || !op.Has("o2") || aboutSeries(op) // false: it changes only the buckets of a time series
		return changed && cs.expanded && cs.covers(db+"."+v.Str())
	case "create", "createIndexes", "commitIndexBuild", "dropIndexes":
		return cs.expanded && cs.covers(db+"."+v.Str())
	}
	return false
}

// commandDB is the database of a command entry, whose namespace is
// "db.$cmd".
func commandDB(op value.Doc) string {
	full := op.Lookup("ns").Str()
	return full[:max(len(full)-len(".$cmd"), 0)]
}

// invalidates reports whether the stream ends with an operation.
func (cs *Stream) invalidates(op value.Doc) bool {
	if op.Lookup("op").Str() != "c" || cs.ns.DB == "" {
		return false
	}
	name, _ := op.Lookup("o").Doc().First()
	if cs.ns.Coll == "" {
		return name == "dropDatabase"
	}
	return name == "drop" || name == "renameCollection"
}
