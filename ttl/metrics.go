package ttl

import (
	"sync/atomic"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Metrics are the counters of expiry since the server started. They are safe
// for concurrent use, and also count removals outside of a pass.
type Metrics struct {
	// metrics.ttl of serverStatus: TTL indexes, clustered, time series.
	DeletedDocuments     atomic.Int64
	DeletedKeys          atomic.Int64
	Passes               atomic.Int64
	SubPasses            atomic.Int64
	InvalidTTLIndexSkips atomic.Int64
	// metrics.expiration.documentTtl.
	Purged         atomic.Int64
	DeferredPasses atomic.Int64
	// metrics.expiration.onExpire: documents moved, and documents that could not
	// be moved, which count once in each pass.
	Moved atomic.Int64
	Kept  atomic.Int64
	// metrics.expiration.messageQueue.
	ExpiredDropped          atomic.Int64
	ExpiredDeadLettered     atomic.Int64
	LocksLapsed             atomic.Int64
	MaxDeliveryDeadLettered atomic.Int64
	QueuesAutoDeleted       atomic.Int64

	// Errors counts the targets that a pass could not visit to the end.
	Errors atomic.Int64
	// PassTimes is how long the passes took.
	PassTimes storage.Durations

	lags     lagMetrics // metrics.expiration.lag
	removals removals   // by policy and collection
}

// Count adds the removals of a visit. Queues count their removals themselves,
// because most of them happen outside of a pass.
func (m *Metrics) Count(uuid [16]byte, p Policy, r Removed) {
	if p == Message {
		return
	}
	m.Moved.Add(r.Moved)
	if p == Document {
		m.Purged.Add(r.Documents)
	} else {
		m.DeletedDocuments.Add(r.Documents)
		m.DeletedKeys.Add(r.Keys)
	}
	m.removals.add(uuid, p, Counts{Removed: r.Documents, Moved: r.Moved})
}

// CountPurged counts removals under a document policy outside of a pass.
func (m *Metrics) CountPurged(list Purged) {
	for i := range list {
		m.Count(list[i].UUID, Document, list[i].Removed)
		m.Lagged(Document, &list[i].Lags)
	}
}

// Messages counts messages of a queue that have expired: removed in all, and moved to its
// dead-letter queue.
func (m *Metrics) Messages(uuid [16]byte, t Counts) { m.removals.add(uuid, Message, t) }

// AppendTTL writes metrics.ttl of serverStatus.
func (m *Metrics) AppendTTL(b *value.Builder) {
	b.StartDocument("ttl")
	b.Int64("deletedDocuments", m.DeletedDocuments.Load())
	b.Int64("deletedKeys", m.DeletedKeys.Load())
	b.Int64("invalidTTLIndexSkips", m.InvalidTTLIndexSkips.Load())
	b.Int64("passes", m.Passes.Load())
	b.Int64("subPasses", m.SubPasses.Load())
	b.End()
}

// AppendExpiration writes metrics.expiration of serverStatus. pendingPurge
// is the number of expired documents that are still stored, see
// [Rules.PendingPurge].
func (m *Metrics) AppendExpiration(b *value.Builder, pendingPurge int64) {
	b.StartDocument("expiration").StartDocument("documentTtl")
	b.Int64("purged", m.Purged.Load()).Int64("pendingPurge", pendingPurge).Int64("deferredPasses", m.DeferredPasses.Load())
	b.End().StartDocument("onExpire").Int64("moved", m.Moved.Load()).Int64("kept", m.Kept.Load())
	b.End().StartDocument("messageQueue")
	b.Int64("expiredDropped", m.ExpiredDropped.Load()).Int64("expiredDeadLettered", m.ExpiredDeadLettered.Load())
	b.Int64("locksLapsed", m.LocksLapsed.Load()).Int64("maxDeliveryDeadLettered", m.MaxDeliveryDeadLettered.Load())
	b.Int64("queuesAutoDeleted", m.QueuesAutoDeleted.Load())
	b.End()
	m.appendLags(b)
	m.appendPasses(b)
	m.appendRemoved(b)
	b.End()
}
