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
	err := s.svc.engine.Update(ctx, fn)
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
		coll, err := findByUUID(tx, c)
		if err != nil {
			return err
		}
		w := call.newWriter(tx, coll, true)
		return fn(coll, metaOf(coll.Info()).rules, w.expire)
	})
	if err == nil {
		h.svc.changes.signal()
	}
	if errors.Is(err, storage.ErrConflict) {
		return nil // an open transaction holds a due record: the next pass
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
func (h expiryHost) Locked() bool { return h.svc.fsync.held() }

// ActiveOperations implements ttl.Host.
func (h expiryHost) ActiveOperations() int { return h.svc.ops.countClients() }

// internalCall is the Call of work that the server does for itself.
func (s *Service) internalCall(ctx context.Context) *Call {
	return &Call{ctx: ctx, svc: s, conn: &Conn{}, cmd: &command{name: "internal"}, now: s.clock.NowMillis()}
}

// expire removes one expired record; it is a ttl.Remover. Where the
// collection has onExpire, the document is moved instead, in the same
// transaction: it stays if it cannot be.
func (w *writer) expire(r storage.Record, e *ttl.Expired) (keys int, err error) {
	if rules := w.meta.rules; rules != nil && rules.OnExpire != nil {
		if err := w.deadLetter(r, e, rules.OnExpire.DeadLetterTo); err != nil {
			return 0, err
		}
	}
	keys = w.countKeys(r)
	w.expired = e
	defer func() { w.expired = nil }()
	return keys, w.remove(r)
}

// countKeys is the number of index entries of a record.
func (w *writer) countKeys(r storage.Record) (n int) {
	for i := range w.coll.Info().Indexes {
		line := &w.coll.Info().Indexes[i]
		if index.IsInternal(line.Name) {
			continue
		}
		if keys, _, err := line.Index.Keys(nil, r); err == nil {
			n += len(keys)
		}
	}
	return n
}

// deadLetter copies an expired document to where dead letters go. A time
// series gives the measurements of the bucket.
func (w *writer) deadLetter(r storage.Record, e *ttl.Expired, to string) error {
	ns := storage.Namespace{DB: w.ns.DB, Coll: to}
	target, err := w.c.collectionForInsert(w.tx, ns)
	if err != nil || metaOf(target.Info()).kind != ordinary || queue.IsQueue(target.Info().Options) {
		w.c.svc.log.Warn().Str("ns", w.ns.String()).Str("deadLetterTo", to).Msg("Expired documents kept: the collection for dead letters cannot take them")
		return ttl.ErrKept
	}
	docs, err := w.documentsOf(r)
	if err != nil {
		return err
	}
	tw := w.c.newWriter(w.tx, target, false)
	for _, d := range docs {
		if err := tw.storeDeadLetter(e.DeadLetter(d, w.source())); err != nil {
			w.c.svc.log.Warn().Str("ns", w.ns.String()).Str("deadLetterTo", to).Err(err).Msg("Expired document kept")
			return ttl.ErrKept
		}
	}
	return nil
}

// storeDeadLetter inserts a dead letter; one with the same _id makes way for
// a fresh _id, so that nothing is lost.
func (w *writer) storeDeadLetter(d value.Doc) error {
	if len(d) > MaxDocumentBytes {
		return mongoerr.New(mongoerr.BSONObjectTooLarge, "dead letter too large")
	}
	_, err := w.insert(d)
	if !mongoerr.Is(err, mongoerr.DuplicateKey) {
		return err
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
	_, err = w.insert(b.Doc())
	return err
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

// settle makes expiry final before a document policy changes: what has
// expired is removed for good (semantics.md §7.4).
func (w *writer) settle() error {
	if w.meta.docTTL == nil {
		return nil
	}
	removed, err := w.meta.rules.Settle(w.coll, w.c.now, w.expire)
	w.c.svc.monitor.Metrics().Purged.Add(removed.Documents)
	return err
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
