package write

import (
	"context"
	"fmt"
	"slices"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/ttl/monitor"
	"github.com/duskdb/duskdb/value"
)

// expiryJob is the lease of the server that runs the passes of the TTL monitor, which also
// sweep the queues.
const expiryJob = "expiry"

// ExpiryHost implements monitor.Host, the monitor's interface to the server.
type ExpiryHost struct{ Svc *kernel.Service }

// Collections implements monitor.Host.
func (h ExpiryHost) Collections(ctx context.Context, schedule *monitor.Schedule, now int64) (monitor.Listing, error) {
	describe := func(info *storage.Info) (*ttl.Rules, bool) {
		return catalog.Of(info).Rules, queue.IsSwept(info.Options)
	}
	return schedule.List(ctx, h.Svc.Engine, now, describe, func(queues []*storage.Info) []monitor.Target {
		return h.Svc.Queues.Targets(queues, serviceStore{h.Svc})
	})
}

// serviceStore runs the transactions of queues that do not belong to a command.
type serviceStore struct{ svc *kernel.Service }

func (s serviceStore) View(ctx context.Context, fn func(storage.Tx) error) error {
	return s.svc.Engine.View(ctx, fn)
}

func (s serviceStore) Update(ctx context.Context, fn func(storage.Tx, *queue.Changes) error) error {
	call, changes := internalCall(s.svc, ctx), s.svc.Queues.Changes()
	err := s.svc.Engine.Update(ctx, func(tx storage.Tx) error {
		changes.Begin()
		return call.Record(tx, func(tx storage.Tx) error { return fn(tx, changes) })
	})
	call.Recorded(err)
	if err == nil {
		changes.Committed()
		s.svc.Changes.Signal()
	}
	return err
}

func (serviceStore) InTransaction() bool { return false }

// View implements monitor.Host.
func (h ExpiryHost) View(ctx context.Context, c *monitor.Collection, fn func(storage.Collection, *ttl.Rules) error) error {
	return h.Svc.Engine.View(ctx, func(tx storage.Tx) error {
		coll, err := findByUUID(tx, c)
		if err != nil {
			return err
		}
		return fn(coll, catalog.Of(coll.Info()).Rules)
	})
}

// Update implements monitor.Host.
func (h ExpiryHost) Update(ctx context.Context, c *monitor.Collection, fn func(storage.Collection, *ttl.Rules, ttl.Remover) error) error {
	call := internalCall(h.Svc, ctx)
	err := h.Svc.Engine.Update(ctx, func(tx storage.Tx) error {
		return call.Record(tx, func(tx storage.Tx) error {
			coll, err := findByUUID(tx, c)
			if err != nil {
				return err
			}
			w := New(call, tx, coll, true)
			return fn(coll, catalog.Of(coll.Info()).Rules, w.moveExpired)
		})
	})
	call.Recorded(err)
	if err == nil {
		h.Svc.Changes.Signal()
	}
	return err
}

// findByUUID opens a collection under its present name.
func findByUUID(tx storage.Tx, c *monitor.Collection) (storage.Collection, error) {
	if coll, err := tx.Collection(c.Namespace); err == nil && coll.Info().UUID == c.UUID {
		return coll, nil
	}
	infos, err := tx.Collections(c.Namespace.DB)
	if err != nil {
		return nil, err
	}
	for _, info := range infos {
		if info.UUID == c.UUID {
			return tx.Collection(info.Namespace)
		}
	}
	return nil, monitor.ErrGone
}

// Parameters implements monitor.Host.
func (h ExpiryHost) Parameters() monitor.Parameters {
	p := h.Svc.Params
	return monitor.Parameters{
		Enabled: p.Bool("ttlMonitorEnabled"), SleepSecs: p.Int("ttlMonitorSleepSecs"),
		BatchDeletes: p.Bool("ttlMonitorBatchDeletes"), SubPassTargetSecs: p.Int("ttlMonitorSubPassTargetSecs"),
		DeleteTargetMS: p.Int("ttlIndexDeleteTargetTimeMS"), DeleteTargetDocs: p.Int("ttlIndexDeleteTargetDocs"),
		PurgeThreshold: p.Int("documentTtlPurgeYieldThreshold"),
	}
}

// Locked implements monitor.Host.
func (h ExpiryHost) Locked() bool { return h.Svc.Fsync.Held() || h.Svc.Leader.SteppedDown.Load() }

// ActiveOperations implements monitor.Host.
func (h ExpiryHost) ActiveOperations() int { return h.Svc.Ops.CountClients() }

// Operations implements monitor.Host.
func (h ExpiryHost) Operations() int64 { return int64(h.Svc.Ops.Next.Load()) }

// internalCall returns the Call for the server's own operations.
func internalCall(s *kernel.Service, ctx context.Context) *kernel.Call {
	return &kernel.Call{Ctx: ctx, Svc: s, Conn: &kernel.Conn{}, Cmd: &kernel.Command{Name: "internal"}, Now: s.Clock.NowMillis()}
}

// moveExpired prepares the removal of an expired record: if the collection has onExpire,
// its document is copied to the dead-letter collection. A document that cannot be copied
// stays. It is a ttl.Remover.
func (w *Writer) moveExpired(r storage.Record, e *ttl.Expired) error {
	_, err := w.deadLetter(r, e)
	return err
}

// expire removes one expired record.
func (w *Writer) expire(r storage.Record, e *ttl.Expired) error {
	copies, err := w.deadLetter(r, e)
	if err != nil {
		return err
	}
	if err := e.Delete(w.coll, r.ID); err != nil {
		return copies.remove(kernel.Translate(w.ns, err))
	}
	return nil
}

// copies are dead letters that were stored for one record.
type copies struct {
	coll storage.Collection
	ids  []storage.RecordID
}

// remove takes the copies back because of an error. It returns the error, or why they could
// not be removed.
func (c *copies) remove(why error) error {
	for _, id := range c.ids {
		if _, err := c.coll.Delete(id); err != nil {
			return fmt.Errorf("a dead letter could not be taken back: %v", err) //nolint:errorlint // not ErrConflict: the transaction must not be committed
		}
	}
	return why
}

// deadLetter copies an expired document to the dead-letter collection, if there is one; for
// a time series it copies the measurements of the bucket. If one copy fails, none is made,
// and the error is ErrKept, ErrConflict or one that ends the transaction.
func (w *Writer) deadLetter(r storage.Record, e *ttl.Expired) (made copies, err error) {
	rules := w.Meta.Rules
	if rules == nil || rules.OnExpire == nil {
		return made, nil
	}
	to := rules.OnExpire.DeadLetterTo
	target, err := CollectionForInsert(w.c, w.tx, storage.Namespace{DB: w.ns.DB, Coll: to})
	if err != nil && kernel.Retry(err) {
		return made, err
	}
	if err != nil || catalog.Of(target.Info()).Kind != catalog.Ordinary || queue.IsQueue(target.Info().Options) {
		return made, w.kept(r, to, err)
	}
	docs, err := w.documentsOf(r)
	if err != nil {
		return made, err
	}
	tw := New(w.c, w.tx, target, false)
	tw.from = append(slices.Clip(w.from), w.ns)
	for i, d := range docs {
		docs[i] = e.DeadLetter(d, w.source())
		if err := tw.checkDeadLetter(docs[i]); err != nil {
			return made, w.kept(r, to, err)
		}
	}
	made.coll = tw.coll
	for _, d := range docs {
		id, err := tw.storeDeadLetter(d)
		if err != nil && !kernel.Retry(err) {
			err = w.kept(r, to, err)
		}
		if err != nil {
			return made, made.remove(err)
		}
		made.ids = append(made.ids, id)
	}
	e.Cause = ttl.DeadLettered
	return made, nil
}

// kept returns the error for an expired document that is not removed.
func (w *Writer) kept(r storage.Record, to string, cause error) error {
	return &keptError{ns: w.ns, id: r.Doc.Lookup("_id"), to: to, cause: cause}
}

// checkDeadLetter refuses a dead letter that cannot be stored, before any
// measurement of its bucket is stored.
func (w *Writer) checkDeadLetter(d value.Doc) error {
	if len(d) > kernel.MaxDocumentBytes {
		return mongoerr.New(mongoerr.BSONObjectTooLarge, "dead letter too large")
	}
	return w.validate(w.Stripped(d), nil)
}

// storeDeadLetter inserts a dead letter. If its _id exists already, it gets a new
// _id, so that no document is lost.
func (w *Writer) storeDeadLetter(d value.Doc) (storage.RecordID, error) {
	id, err := w.Insert(d)
	if !mongoerr.Is(err, mongoerr.DuplicateKey) {
		return id, err
	}
	var b value.Builder
	b.Reset(make([]byte, 0, len(d)+32))
	b.Append("_id", value.ObjectID(value.NewOID(w.c.Now)))
	it := d.Iter()
	for it.Next() {
		if it.Key() == "_id" {
			b.Append("_originalId", it.Value())
			continue
		}
		b.Raw(it.Element())
	}
	return w.Insert(b.Doc())
}

// source returns the collection that users see: for buckets, the time series.
func (w *Writer) source() storage.Namespace {
	if series, ok := reserved.Series(w.ns.Coll); ok {
		return storage.Namespace{DB: w.ns.DB, Coll: series}
	}
	return w.ns
}

// NewMonitor returns the ttl monitor.
func NewMonitor(s *kernel.Service) *monitor.Monitor {
	_, remote := s.Engine.(storage.Clustered)
	return monitor.New(ExpiryHost{s}, monitor.Options{
		Clock: s.Clock, Real: clock.System(), Log: s.Log, Lease: func() bool { return s.Engine.Lease(expiryJob) }, Remote: remote,
	})
}

// WriteExpiryMetrics writes metrics.ttl and metrics.expiration.
func WriteExpiryMetrics(s *kernel.Service, b *value.Builder) error {
	pending, err := pendingPurge(s)
	if err != nil {
		return err
	}
	m := s.Monitor.Metrics()
	m.AppendTTL(b)
	m.AppendExpiration(b, pending)
	return nil
}

// pendingPurge counts the expired documents that are still stored.
func pendingPurge(s *kernel.Service) (total int64, err error) {
	now := s.Clock.NowMillis()
	err = s.Engine.View(s.Background, func(tx storage.Tx) error {
		total = 0
		infos, err := tx.Collections("")
		if err != nil {
			return err
		}
		for _, info := range infos {
			m := catalog.Of(info)
			if m.DocTTL == nil {
				continue
			}
			coll, err := tx.Collection(info.Namespace)
			if err != nil {
				return err
			}
			n, err := m.Rules.PendingPurge(coll, now)
			if err != nil {
				return err
			}
			total += n
		}
		return nil
	})
	return total, err
}
