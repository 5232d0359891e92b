package kvshared

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/claims"
	"github.com/duskdb/duskdb/storage/internal/keydiff"
	"github.com/duskdb/duskdb/storage/internal/kv"
)

// A snapshot transaction also writes its claims to the store, where the Updates of other
// servers look for them under the lock. Claims that are made while an Update of another
// server commits may miss each other: then the snapshot transaction finds out when it
// commits.
//
// Claims have these keys:
//
//	collection, r id            a record
//	collection, x index order   a key of a unique index
//	0, n name                   a name in the catalog
//	0, u name 0 transaction     a collection that a transaction has written to

// claimSet is what a snapshot transaction has claimed in the store.
type claimSet struct {
	store     Store
	txn       int64               // the number of the transaction
	held      map[string]struct{} // the ids of the claims that the store has granted
	pending   ClaimRequest        // what the next request asks for besides
	deferred  bool                // claims wait for the end of a statement
	sent      bool                // the store may have claims of the transaction
	unchanged [][]byte            // the keys that the commit will read
	empty     []kv.Span           // the ranges in which the commit will look for a key
}

// maxPending is how many claims wait for each other.
const maxPending = 4096

func (c Claim) id() string {
	return string(binary.BigEndian.AppendUint32(nil, c.Num)) + string(c.Key)
}

// recordClaim is the claim of a record.
func recordClaim(num uint32, id storage.RecordID) Claim {
	return Claim{Num: num, Key: kv.WithinColl(kv.AppendRecordKey(nil, num, id))}
}

// nameClaim is the claim of a name.
func nameClaim(ns storage.Namespace) Claim {
	return Claim{Key: []byte("n" + ns.DB + "\x00" + ns.Coll)}
}

// useClaims are the claims of all transactions that have written to a collection.
func useClaims(ns storage.Namespace) Claim {
	return Claim{Key: []byte("u" + ns.DB + "\x00" + ns.Coll + "\x00"), All: true}
}

// claimInStore claims in one round trip what is missing, and checks what r says. It fails if
// another transaction has one of the claims, or if what they are of has changed since
// the snapshot.
func (t *tx) claimInStore(ctx context.Context, r ClaimRequest) error {
	own, before := t.claims, &t.claims.pending
	take := before.Take
	for _, c := range r.Take {
		if _, held := own.held[c.id()]; !held {
			take = append(take, c)
		}
	}
	r.Take, r.Free = take, append(before.Free, r.Free...)
	r.Same, r.New = append(before.Same, r.Same...), append(before.New, r.New...)
	if own.deferred && len(r.Take)+len(r.Same) < maxPending {
		own.pending = r
		return nil
	}
	if len(r.Take)+len(r.Same)+len(r.New) == 0 {
		return nil
	}
	head, _ := t.state.Head()
	r.Txn, r.Seen, own.sent = own.txn, head.Version, true
	granted, same, err := own.store.Claim(ctx, &r)
	if err != nil {
		return err
	}
	own.pending = ClaimRequest{}
	own.unchanged, own.empty = append(own.unchanged, r.Same...), append(own.empty, r.New...)
	if own.held == nil {
		own.held = map[string]struct{}{}
	}
	for i, c := range r.Take {
		if granted[i] {
			own.held[c.id()] = struct{}{}
		}
		same = same && granted[i]
	}
	if !same {
		return storage.ErrConflict
	}
	return nil
}

// txn is a snapshot transaction, as its caller has it.
type txn struct {
	*kv.Txn
	state *tx
}

var _ storage.LateClaimer = txn{}

// ClaimLater makes the writes that follow wait with their claims for Claim.
func (s txn) ClaimLater() { s.state.claims.deferred = true }

// Claim claims what has been written since ClaimLater.
func (s txn) Claim() error {
	if s.state.Done || !s.state.claims.deferred {
		return nil
	}
	s.state.claims.deferred = false
	return s.state.claimInStore(s.state.Ctx, ClaimRequest{})
}

// ClaimUse notes that a snapshot transaction writes to a collection: its next request claims
// that. If this server knows the latest catalog, the collection must be described there as
// in the snapshot.
func (t *tx) ClaimUse(ns storage.Namespace, c *kv.Coll) (current bool, err error) {
	t.noteUse(ns)
	if !t.engine.store.Current() {
		return false, nil
	}
	cat, err := t.engine.known.latest()
	if err == nil && !kv.SameDescription(cat.root.Get(ns), c) {
		err = storage.ErrConflict
	}
	return err == nil, err
}

func (t *tx) noteUse(ns storage.Namespace) {
	c := useClaims(ns)
	c.Key, c.All = binary.BigEndian.AppendUint64(c.Key, uint64(t.claims.txn)), false
	_, held := t.claims.held[c.id()]
	if held || slices.ContainsFunc(t.claims.pending.Take, func(d Claim) bool { return d.id() == c.id() }) {
		return
	}
	t.claims.pending.Take = append(t.claims.pending.Take, c)
	t.claims.pending.Free = append(t.claims.pending.Free, nameClaim(ns))
}

// check fails if a transaction of another server has a claim. A dry run only notes it, for the
// trip that takes the lock.
func (t *tx) check(c Claim) error {
	switch {
	case t.Txn != nil:
	case t.phase == dryRunning:
		if !t.alone() {
			t.reads.claim(c)
		}
	case t.phase == committing:
		return t.cached.checkClaim(t.Ctx, c)
	}
	return nil
}

// CheckUse fails if a transaction of another server has claimed a name.
func (t *tx) CheckUse(ns storage.Namespace) error { return t.check(nameClaim(ns)) }

// CheckName fails if a transaction of another server has claimed a name, or has written to
// the collection.
func (t *tx) CheckName(ns storage.Namespace) error {
	if err := t.check(useClaims(ns)); err != nil {
		return err
	}
	return t.check(nameClaim(ns))
}

// CheckRecord fails if a transaction of another server has claimed a record.
func (t *tx) CheckRecord(num uint32, id storage.RecordID) error {
	return t.check(recordClaim(num, id))
}

// ClaimRecord claims a record that the transaction's own state has.
func (t *tx) ClaimRecord(num uint32, id storage.RecordID) error {
	return t.claimInStore(t.Ctx, ClaimRequest{
		Take: []Claim{recordClaim(num, id)},
		Same: [][]byte{kv.AppendRecordKey(nil, num, id)},
	})
}

// ClaimName claims a name. The caller checks what it names.
func (t *tx) ClaimName(ns storage.Namespace) error {
	return t.claimInStore(t.Ctx, ClaimRequest{Take: []Claim{nameClaim(ns)}})
}

// ClaimKeys claims the keys of a record that are added to unique indexes, all in one trip.
func (t *tx) ClaimKeys(c *kv.Coll, diffs []keydiff.Change) error {
	var r ClaimRequest
	taken, err := t.claimKeysHere(c, diffs, &r)
	if t.Txn == nil {
		return err
	}
	if err == nil {
		err = t.claimInStore(t.Ctx, r)
	}
	if err != nil {
		t.DropClaims(taken)
	}
	return err
}

// claimKeysHere claims keys on this server, and collects what a snapshot transaction must
// claim in the store. It returns what it has claimed.
func (t *tx) claimKeysHere(c *kv.Coll, diffs []keydiff.Change, r *ClaimRequest) (taken []claims.Key, err error) {
	for i, x := range c.Indexes {
		if !x.Maker.Unique() {
			continue
		}
		for _, key := range diffs[i].Add {
			order := x.Maker.Order(key)
			k := claims.Key{Num: c.Num, Index: c.IndexName(i), Key: string(order)}
			first, err := t.ClaimHere(k)
			if err != nil {
				return taken, err
			}
			if c.Change.Before == nil || x.Num >= firstProvisional {
				continue // nobody else knows the collection, or the index
			}
			s := kv.OrderSpan(c.Num, x.Num, order)
			claim := Claim{Num: c.Num, Key: kv.WithinColl(s.Lo)}
			if err := t.check(claim); err != nil {
				return taken, err
			}
			if first {
				taken = append(taken, k)
				r.Take, r.New = append(r.Take, claim), append(r.New, s)
			}
		}
	}
	return taken, nil
}

// EndClaims releases the claims of a snapshot transaction, unless its commit has.
func (t *tx) EndClaims() { t.claims.end() }

// end releases the claims of a snapshot transaction, unless its commit has.
func (f *claimSet) end() {
	if f.sent {
		f.sent = false
		f.store.Release(f.txn)
	}
}

// claim notes what a dry run needs to be free.
func (m *readSet) claim(c Claim) {
	if id := c.id(); !m.full() {
		m.bytes += 2*len(id) + 64
		if m.claims == nil {
			m.claims = map[string]Claim{}
		}
		m.claims[id] = c
	}
}

// replaying notes the claims of the transaction that a dry run commits.
func (m *readSet) replaying(s *kv.Txn) {
	if s != nil {
		m.txn, m.claimsHeld = clusterTx(s.Tx).claims.txn, len(clusterTx(s.Tx).claims.held)
	}
}

// readAhead reads what the commit of a transaction will need, in one round trip.
func (d recordingState) readAhead(ctx context.Context, s *kv.Txn) error {
	if s == nil {
		return nil
	}
	var r Request
	for _, key := range clusterTx(s.Tx).claims.unchanged {
		r.Points = append(r.Points, Point{Key: key})
	}
	for _, span := range clusterTx(s.Tx).claims.empty {
		r.Ends = append(r.Ends, End{Span: span})
	}
	if r.Empty() {
		return nil
	}
	reply, err := d.Read(ctx, &r)
	if err != nil {
		return err
	}
	for i := range r.Points {
		d.reads.point(r.Points[i].Key, reply.Points[i].Value, d.version())
	}
	for i := range r.Ends {
		d.reads.end(r.Ends[i].Span, false, readEnd{reply.Ends[i].Key, d.version()})
	}
	return nil
}

// checkClaim fails if a transaction of another server has a claim. What was not asked for
// together with the lock is asked for now, unless there are no claims at all.
func (r *cachedState) checkClaim(ctx context.Context, c Claim) error {
	if !r.othersClaim {
		return nil
	}
	id := c.id()
	claimed, known := r.claims[id]
	if !known {
		reply, err := r.Read(ctx, &Request{Claims: []Claim{c}})
		if err != nil {
			return err
		}
		claimed = reply.Claimed[0]
		r.claims[id] = claimed
	}
	if claimed {
		return storage.ErrConflict
	}
	return nil
}
