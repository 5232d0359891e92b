package catalog

import (
	"github.com/duskdb/duskdb/queue"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
)

// ExpiresAt returns the instant at which a record expires under all policies that apply
// to it, the earliest one; ok is false if it never does. It is {$meta: "expiresAt"}.
func ExpiresAt(info *storage.Info, r *storage.Record) (ms int64, ok bool) {
	m := Of(info)
	if m.IsQueue {
		e := queue.ExpiryOf(r.Doc, 0)
		return e.At, e.HasExpiry
	}
	e, ok := ttl.Earliest(m.Rules.Expiries(info, *r))
	return e.At, ok
}
