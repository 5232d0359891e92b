package server

import (
	"github.com/duskdb/duskdb/commands"
	"github.com/duskdb/duskdb/ttl"
)

// expiryMetrics are about expiry as a whole.
var expiryMetrics = []family{
	{"duskdb_expiry_removed_total", "counter", []string{"policy"}, "Documents, buckets and messages that have expired and were removed, with those that were moved.", func(x *exposition, m *commands.Metrics) {
		for p := range ttl.NumPolicies {
			x.sample(float64(m.Expiry.Removed[p].Removed), p.String())
		}
	}},
	{"duskdb_expiry_moved_total", "counter", []string{"policy"}, "Of the removed ones, those moved to a dead-letter collection or queue.", func(x *exposition, m *commands.Metrics) {
		for p := range ttl.NumPolicies {
			x.sample(float64(m.Expiry.Removed[p].Moved), p.String())
		}
	}},
	counter("expiry_kept", "Expired documents that were kept because they could not be moved; once in each pass.", func(m *commands.Metrics) int64 { return m.Expiry.Kept }),
	counter("expiry_index_keys", "Index entries that went with the documents of TTL indexes.", func(m *commands.Metrics) int64 { return m.Expiry.Keys }),
	{"duskdb_expiry_lag_seconds", "histogram", []string{"policy"}, "Time between the expiry of a document and its removal.", func(x *exposition, m *commands.Metrics) {
		for i := range m.ExpiryLags {
			l := &m.ExpiryLags[i]
			x.histogram(l.Counts[:], l.Bound, float64(l.Millis)/1000, l.Policy)
		}
	}},
	{"duskdb_expiry_pass_duration_seconds", "histogram", nil, "Duration of passes of the TTL monitor.", func(x *exposition, m *commands.Metrics) {
		c := &m.Expiry.PassTimes
		x.histogram(c.Counts[:], c.Bound, c.Seconds)
	}},
	counter("expiry_sub_passes", "Sub-passes of the TTL monitor.", func(m *commands.Metrics) int64 { return m.Expiry.SubPasses }),
	counter("expiry_deferred_passes", "Passes that left documents of document TTL to a later one because of clients.", func(m *commands.Metrics) int64 { return m.Expiry.DeferredPasses }),
	counter("expiry_errors", "Collections and queues that a pass could not visit to the end.", func(m *commands.Metrics) int64 { return m.Expiry.Errors }),
	counter("expiry_skipped_indexes", "TTL indexes that never expire documents, once in each pass.", func(m *commands.Metrics) int64 { return m.Expiry.SkippedIndexes }),
	single("duskdb_expiry_last_pass_age_seconds", "gauge", "Time since the last pass of this server, or since its start.", func(m *commands.Metrics) float64 { return m.Expiry.SincePass.Seconds() }),
	gauge("expiry_interval_seconds", "Time between passes: ttlMonitorSleepSecs.", func(m *commands.Metrics) int64 { return m.Expiry.Interval }),
	gauge("expiry_enabled", "1 if ttlMonitorEnabled is true, else 0.", func(m *commands.Metrics) int {
		if m.Expiry.Enabled {
			return 1
		}
		return 0
	}),
	counter("queue_locks_lapsed", "Locks of messages that ended without a settlement.", func(m *commands.Metrics) int64 { return m.Expiry.LocksLapsed }),
	counter("queue_max_deliveries", "Messages that were dead-lettered after their last delivery.", func(m *commands.Metrics) int64 { return m.Expiry.MaxDeliveries }),
	counter("queues_auto_deleted", "Queues that were deleted because they were idle.", func(m *commands.Metrics) int64 { return m.Expiry.QueuesDeleted }),
}

// ofCollection are the labels of the metrics of collections. The names of both are $other
// for the sum of those that have none of their own.
var ofCollection = []string{"db", "collection", "policy"}

// collectionMetrics are about each collection in which something expires, and each queue.
var collectionMetrics = []family{
	expiring("pending", "gauge", "Documents or messages that will expire, with those that are overdue; an upper bound if many documents have no date.", func(e *commands.CollectionExpiry, _ int64) (float64, bool) { return float64(e.Pending), true }),
	expiring("overdue", "gauge", "Expired documents or messages that are not removed yet; counted up to 10,000.", func(e *commands.CollectionExpiry, _ int64) (float64, bool) { return float64(e.Overdue), true }),
	expiring("oldest_overdue_seconds", "gauge", "How long ago the first of the overdue ones expired; 0 if nothing is overdue.", func(e *commands.CollectionExpiry, now int64) (float64, bool) {
		if e.Overdue == 0 {
			return 0, true
		}
		return max(float64(now-e.Oldest)/1000, 0), true
	}),
	expiring("next_due_seconds", "gauge", "Time until the next one expires; no sample if none will.", func(e *commands.CollectionExpiry, now int64) (float64, bool) {
		return float64(e.Next-now) / 1000, e.HasNext
	}),
	expiring("removed_total", "counter", "Removed by expiry, with those that were moved.", func(e *commands.CollectionExpiry, _ int64) (float64, bool) { return float64(e.Removed), true }),
	expiring("moved_total", "counter", "Of the removed ones, those moved to a dead-letter collection or queue.", func(e *commands.CollectionExpiry, _ int64) (float64, bool) { return float64(e.Moved), true }),
	{"duskdb_queue_messages", "gauge", []string{"db", "queue", "state"}, "Messages of a queue by state: active, locked, deferred, scheduled, expired, deadLettered.", func(x *exposition, m *commands.Metrics) {
		for i := range m.Queues {
			q := &m.Queues[i]
			for _, s := range [...]struct {
				state string
				n     int64
			}{{"active", q.Active}, {"locked", q.Locked}, {"deferred", q.Deferred}, {"scheduled", q.Scheduled}, {"expired", q.Expired}, {"deadLettered", q.DeadLettered}} {
				x.sample(float64(s.n), q.Namespace.DB, q.Namespace.Coll, s.state)
			}
		}
	}},
	{"duskdb_queue_oldest_message_seconds", "gauge", []string{"db", "queue"}, "How long ago the first message that can be received was sent; 0 for a queue without such a message.", func(x *exposition, m *commands.Metrics) {
		for i := range m.Queues {
			q, age := &m.Queues[i], 0.0
			if q.HasOldest {
				age = max(float64(m.Now-q.Oldest)/1000, 0)
			}
			x.sample(age, q.Namespace.DB, q.Namespace.Coll)
		}
	}},
	gauge("metrics_unread_collections", "Collections in which something expires and that were not looked at for these metrics because that took too long.", func(m *commands.Metrics) int { return m.Unread }),
}

// expiring is a metric of collections in which something expires. value gets the present
// instant of the server's clock.
func expiring(name, kind, help string, value func(e *commands.CollectionExpiry, now int64) (v float64, ok bool)) family {
	return family{"duskdb_collection_expiry_" + name, kind, ofCollection, help, func(x *exposition, m *commands.Metrics) {
		for i := range m.Expiring {
			e := &m.Expiring[i]
			if v, ok := value(e, m.Now); ok {
				x.sample(v, e.Namespace.DB, e.Namespace.Coll, e.Policy)
			}
		}
	}}
}
