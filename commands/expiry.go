package commands

import (
	"context"
	"errors"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/index"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

// expiryHost is the server as the ttl monitor sees it.
type expiryHost struct{ svc *Service }

// Collections implements ttl.Host.
func (h expiryHost) Collections(ctx context.Context) (list []ttl.Collection, err error) {
	err = h.svc.engine.View(ctx, func(tx storage.Tx) error {
		list = nil
		for _, info := range tx.Collections("") {
			if rules := metaOf(info).rules; rules != nil {
				list = append(list, ttl.Collection{Namespace: info.Namespace, UUID: info.UUID, Rules: rules})
			}
		}
		return nil
	})
	return list, err
}

// Targets implements ttl.Host.
func (h expiryHost) Targets(ctx context.Context) ([]ttl.Target, error) {
	return h.svc.queues.Targets(ctx, serviceStore{h.svc})
}

// serviceStore runs the transactions of queues that no command asked for.
type serviceStore struct{ svc *Service }

func (s serviceStore) View(ctx context.Context, fn func(storage.Tx) error) error {
	return s.svc.engine.View(ctx, fn)
}

func (s serviceStore) Update(ctx context.Context, fn func(storage.Tx) error) error {
	call := s.svc.internalCall(ctx)
	err := s.svc.engine.Update(ctx, func(tx storage.Tx) error { return call.record(tx, fn) })
	call.recorded(err)
	if err == nil {
		s.svc.changes.signal()
	}
	return err
}

// View implements ttl.Host.
func (h expiryHost) View(ctx context.Context, c *ttl.Collection, fn func(storage.Collection, *ttl.Rules) error) error {
	return h.svc.engine.View(ctx, func(tx storage.Tx) error {
		coll, err := findByUUID(tx, c)
		if err != nil {
			return err
		}
		return fn(coll, metaOf(coll.Info()).rules)
	})
}

// Update implements ttl.Host.
func (h expiryHost) Update(ctx context.Context, c *ttl.Collection, fn func(storage.Collection, *ttl.Rules, ttl.Remover) error) error {
	call := h.svc.internalCall(ctx)
	err := h.svc.engine.Update(ctx, func(tx storage.Tx) error {
		return call.record(tx, func(tx storage.Tx) error {
			coll, err := findByUUID(tx, c)
			if err != nil {
				return err
			}
			w := call.newWriter(tx, coll, true)
			return fn(coll, metaOf(coll.Info()).rules, w.expire)
		})
	})
	call.recorded(err)
	if err == nil {
		h.svc.changes.signal()
	}
	return err
}

// findByUUID opens a collection under whatever name it goes by now.
func findByUUID(tx storage.Tx, c *ttl.Collection) (storage.Collection, error) {
	if coll, err := tx.Collection(c.Namespace); err == nil && coll.Info().UUID == c.UUID {
		return coll, nil
	}
	for _, info := range tx.Collections(c.Namespace.DB) {
		if info.UUID == c.UUID {
			return tx.Collection(info.Namespace)
		}
	}
	return nil, ttl.ErrGone
}

// Parameters implements ttl.Host.
func (h expiryHost) Parameters() ttl.Parameters {
	p := h.svc.params
	return ttl.Parameters{
		Enabled: p.bool("ttlMonitorEnabled"), SleepSecs: p.int("ttlMonitorSleepSecs"),
		BatchDeletes: p.bool("ttlMonitorBatchDeletes"), SubPassTargetSecs: p.int("ttlMonitorSubPassTargetSecs"),
		DeleteTargetMS: p.int("ttlIndexDeleteTargetTimeMS"), DeleteTargetDocs: p.int("ttlIndexDeleteTargetDocs"),
		PurgeThreshold: p.int("documentTtlPurgeYieldThreshold"),
	}
}

// Locked implements ttl.Host.
func (h expiryHost) Locked() bool { return h.svc.fsync.held() || h.svc.leader.aside.Load() }

// ActiveOperations implements ttl.Host.
func (h expiryHost) ActiveOperations() int { return h.svc.ops.countClients() }

// Operations implements ttl.Host.
func (h expiryHost) Operations() int64 { return int64(h.svc.ops.next.Load()) }

// internalCall is the Call of work that the server does for itself.
func (s *Service) internalCall(ctx context.Context) *Call {
	return &Call{ctx: ctx, svc: s, conn: &Conn{}, cmd: &command{name: "internal"}, now: s.clock.NowMillis()}
}

// expire removes one expired record; it is a ttl.Remover. Where the
// collection has onExpire, the document is moved instead, in the same
// transaction: it stays if it cannot be.
func (w *writer) expire(r storage.Record, e *ttl.Expired) (keys int, err error) {
	undo := func() error { return nil }
	if rules := w.meta.rules; rules != nil && rules.OnExpire != nil {
		if undo, err = w.deadLetter(r, e, rules.OnExpire.DeadLetterTo); err != nil {
			return 0, err
		}
		e.Cause = ttl.DeadLettered
	}
	w.expired = e
	defer func() { w.expired = nil }()
	before := w.entries()
	if err := w.remove(r); err != nil {
		return 0, errors.Join(err, undo())
	}
	return int(before - w.entries()), nil
}

// entries is the number of entries in the indexes that clients see.
func (w *writer) entries() (n int64) {
	for i := range w.coll.Info().Indexes {
		name := w.coll.Info().Indexes[i].Name
		if index.IsInternal(name) {
			continue
		}
		if stats, err := w.coll.IndexStats(name); err == nil {
			n += stats.Entries
		}
	}
	return n
}

// deadLetter copies an expired document to where dead letters go; a time
// series gives the measurements of the bucket. Either all copies are made or
// none: then the error is ErrKept, or one that ends the transaction. undo
// takes them back.
func (w *writer) deadLetter(r storage.Record, e *ttl.Expired, to string) (undo func() error, err error) {
	ns := storage.Namespace{DB: w.ns.DB, Coll: to}
	target, err := w.c.collectionForInsert(w.tx, ns)
	if err != nil || metaOf(target.Info()).kind != ordinary || queue.IsQueue(target.Info().Options) {
		return nil, w.kept(r, to, err)
	}
	docs, err := w.documentsOf(r)
	if err != nil {
		return nil, err
	}
	tw := w.c.newWriter(w.tx, target, false)
	tw.moves = true
	for i, d := range docs {
		docs[i] = e.DeadLetter(d, w.source())
		if err := tw.checkDeadLetter(docs[i]); err != nil {
			return nil, w.kept(r, to, err)
		}
	}
	var stored []storage.RecordID
	undo = func() error {
		for _, id := range stored {
			if err := tw.coll.Delete(id); err != nil {
				return err
			}
		}
		return nil
	}
	for _, d := range docs {
		id, err := tw.storeDeadLetter(d)
		if err == nil {
			stored = append(stored, id)
			continue
		}
		if retry(err) {
			return nil, err
		}
		if err := undo(); err != nil {
			return nil, err
		}
		return nil, w.kept(r, to, err)
	}
	return undo, nil
}

// kept is the error of an expired document that is not removed.
func (w *writer) kept(r storage.Record, to string, cause error) error {
	return &keptError{ns: w.ns, id: r.Doc.Lookup("_id"), to: to, cause: cause}
}

// checkDeadLetter refuses a dead letter that cannot be stored, before any of
// its bucket is.
func (w *writer) checkDeadLetter(d value.Doc) error {
	if len(d) > MaxDocumentBytes {
		return mongoerr.New(mongoerr.BSONObjectTooLarge, "dead letter too large")
	}
	return w.validate(w.stripped(d), nil)
}

// storeDeadLetter inserts a dead letter; one with the same _id makes way for
// a fresh _id, so that nothing is lost.
func (w *writer) storeDeadLetter(d value.Doc) (storage.RecordID, error) {
	id, err := w.insert(d)
	if !mongoerr.Is(err, mongoerr.DuplicateKey) {
		return id, err
	}
	var b value.Builder
	b.Reset(make([]byte, 0, len(d)+32))
	b.Append("_id", value.ObjectID(value.NewOID(w.c.now)))
	for it := d.Iter(); it.Next(); {
		if it.Key() == "_id" {
			b.Append("_originalId", it.Value())
			continue
		}
		b.Raw(it.Element())
	}
	return w.insert(b.Doc())
}

// source is the collection users know: for buckets, the time series.
func (w *writer) source() storage.Namespace {
	if isBuckets(w.ns.Coll) {
		return storage.Namespace{DB: w.ns.DB, Coll: w.ns.Coll[len(bucketsPrefix):]}
	}
	return w.ns
}

// newMonitor makes the ttl monitor.
func (s *Service) newMonitor() *ttl.Monitor {
	return ttl.NewMonitor(expiryHost{s}, ttl.Options{Clock: s.clock, Real: clock.System(), Log: s.log})
}

// writeExpiryMetrics writes metrics.ttl and metrics.expiration.
func (s *Service) writeExpiryMetrics(b *value.Builder) {
	m := s.monitor.Metrics()
	m.AppendTTL(b)
	m.AppendExpiration(b, s.pendingPurge())
}

// pendingPurge counts the expired documents that are still stored.
func (s *Service) pendingPurge() (total int64) {
	now := s.clock.NowMillis()
	_ = s.engine.View(s.background, func(tx storage.Tx) error {
		for _, info := range tx.Collections("") {
			m := metaOf(info)
			if m.docTTL == nil {
				continue
			}
			coll, err := tx.Collection(info.Namespace)
			if err != nil {
				continue
			}
			n, _ := m.rules.PendingPurge(coll, now)
			total += n
		}
		return nil
	})
	return total
}
