package kv

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/claims"
	"github.com/duskdb/duskdb/storage/internal/keydiff"
)

// Over a shared store, a snapshot transaction also writes its claims to the store,
// where the Updates of other servers look for them under the lock. Claims that are
// made while an Update of another server commits may miss each other: then the
// snapshot transaction finds out when it commits.
//
// Claims have these keys:
//
//	collection, r id            a record
//	collection, x index order   a key of a unique index
//	0, n name                   a name in the catalog
//	0, u name 0 transaction     a collection that a transaction has written to

// far is what a snapshot transaction has claimed in the store.
type far struct {
	store   SharedStore
	txn     int64
	held    map[string]struct{} // what the store has granted
	pending ClaimRequest        // goes with the next claim
	later   bool                // claims wait for each other
	tried   bool                // there may be claims in the store
	same    [][]byte            // the keys that the commit will read
	news    []Span              // and ranges in which it will look for a key
}

// mostPending is how many claims wait for each other.
const mostPending = 4096

func (c Claim) id() string {
	return string(binary.BigEndian.AppendUint32(nil, c.Num)) + string(c.Key)
}

// recordClaim is the claim of a record.
func recordClaim(num uint32, id storage.RecordID) Claim {
	return Claim{Num: num, Key: appendRecordKey(nil, num, id)[collPrefix:]}
}

// nameClaim is the claim of a name.
func nameClaim(ns storage.Namespace) Claim {
	return Claim{Key: []byte("n" + ns.DB + "\x00" + ns.Coll)}
}

// useClaims are the claims of all transactions that have written to a collection.
func useClaims(ns storage.Namespace) Claim {
	return Claim{Key: []byte("u" + ns.DB + "\x00" + ns.Coll + "\x00"), All: true}
}

// ask claims in one round trip what is missing, and checks what r says. It fails if
// another transaction has one of the claims, or if what they are of has changed since
// the snapshot.
func (f *distant) ask(ctx context.Context, r ClaimRequest) error {
	own, before := f.far, &f.far.pending
	take := before.Take
	for _, c := range r.Take {
		if _, held := own.held[c.id()]; !held {
			take = append(take, c)
		}
	}
	r.Take, r.Free = take, append(before.Free, r.Free...)
	r.Same, r.New = append(before.Same, r.Same...), append(before.New, r.New...)
	if own.later && len(r.Take)+len(r.Same) < mostPending {
		own.pending = r
		return nil
	}
	if len(r.Take)+len(r.Same)+len(r.New) == 0 {
		return nil
	}
	head, _ := f.snap.Head()
	r.Txn, r.Seen, own.tried = own.txn, head.Version, true
	granted, same, err := own.store.Claim(ctx, &r)
	if err != nil {
		return err
	}
	own.pending = ClaimRequest{}
	own.same, own.news = append(own.same, r.Same...), append(own.news, r.New...)
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

// ClaimLater makes the writes that follow wait with their claims for Claim.
func (s *snapshot) ClaimLater() {
	if s.distant != nil {
		s.distant.far.later = true
	}
}

// Claim claims what has been written since ClaimLater.
func (s *snapshot) Claim() error {
	if s.distant == nil || s.done || !s.distant.far.later {
		return nil
	}
	s.distant.far.later = false
	return s.distant.ask(s.ctx, ClaimRequest{})
}

var _ storage.LateClaimer = (*snapshot)(nil)

// use notes that a snapshot transaction writes to a collection.
func (f *distant) use(ns storage.Namespace) {
	c := useClaims(ns)
	c.Key, c.All = binary.BigEndian.AppendUint64(c.Key, uint64(f.far.txn)), false
	_, held := f.far.held[c.id()]
	if held || slices.ContainsFunc(f.far.pending.Take, func(d Claim) bool { return d.id() == c.id() }) {
		return
	}
	f.far.pending.Take = append(f.far.pending.Take, c)
	f.far.pending.Free = append(f.far.pending.Free, nameClaim(ns))
}

// checkFar fails if a transaction of another server has a claim. A draft only
// notes it, for the trip that takes the lock.
func (t *tx) checkFar(c Claim) error {
	f := t.distant
	switch {
	case f == nil || t.snap != nil:
	case f.phase == drafting:
		if !f.alone() {
			f.memory.claim(c)
		}
	case f.phase == committing:
		return f.known.free(t.ctx, c)
	}
	return nil
}

// checkNameFar fails if a transaction of another server has claimed a name, or has
// written to the collection.
func (t *tx) checkNameFar(ns storage.Namespace) error {
	if t.distant == nil {
		return nil
	}
	if err := t.checkFar(useClaims(ns)); err != nil {
		return err
	}
	return t.checkFar(nameClaim(ns))
}

// claimRecordFar claims a record that the transaction's own state has.
func (t *tx) claimRecordFar(c *coll, id storage.RecordID) error {
	return t.distant.ask(t.ctx, ClaimRequest{
		Take: []Claim{recordClaim(c.num, id)},
		Same: [][]byte{appendRecordKey(nil, c.num, id)},
	})
}

// claimNameFar claims a name. The caller checks what it names.
func (t *tx) claimNameFar(ns storage.Namespace) error {
	if t.distant == nil {
		return nil
	}
	return t.distant.ask(t.ctx, ClaimRequest{Take: []Claim{nameClaim(ns)}})
}

// claimKeysFar is claimKeys over a shared store: all keys of a record in one trip.
func (t *tx) claimKeysFar(c *coll, diffs []keydiff.Change) error {
	var r ClaimRequest
	taken, err := t.claimKeysHere(c, diffs, &r)
	if t.snap == nil {
		return err
	}
	if err == nil {
		err = t.distant.ask(t.ctx, r)
	}
	if err != nil {
		for _, k := range taken {
			t.e.claims.Drop(k, &t.snap.holder)
		}
	}
	return err
}

// claimKeysHere claims keys on this server, and collects what a snapshot
// transaction must claim in the store. It returns what it has claimed.
func (t *tx) claimKeysHere(c *coll, diffs []keydiff.Change, r *ClaimRequest) (taken []claims.Key, err error) {
	for i, x := range c.indexes {
		if !x.maker.Unique() {
			continue
		}
		for _, key := range diffs[i].Add {
			order := x.maker.Order(key)
			k := claims.Key{Num: c.num, Index: c.nameOf(i), Key: string(order)}
			first, err := t.claim(k)
			if err != nil {
				return taken, err
			}
			if c.change.base == nil || x.num >= firstProvisional {
				continue // nobody else knows the collection, or the index
			}
			lo := appendEscaped(appendIndexPrefix(nil, c.num, x.num), order)
			claim := Claim{Num: c.num, Key: lo[collPrefix:]}
			if err := t.checkFar(claim); err != nil {
				return taken, err
			}
			if first {
				taken = append(taken, k)
				r.Take, r.New = append(r.Take, claim), append(r.New, Span{Lo: lo, Hi: after(lo)})
			}
		}
	}
	return taken, nil
}

// end releases the claims of a snapshot transaction, unless its commit has.
func (f *far) end() {
	if f.tried {
		f.tried = false
		f.store.Release(f.txn)
	}
}

// claim notes what a draft needs to be free.
func (m *memory) claim(c Claim) {
	if id := c.id(); !m.full() {
		m.bytes += 2*len(id) + 64
		if m.claims == nil {
			m.claims = map[string]Claim{}
		}
		m.claims[id] = c
	}
}

// replaying notes the claims of the transaction that a draft commits.
func (m *memory) replaying(s *snapshot) {
	if s != nil && s.distant != nil {
		m.txn, m.held = s.distant.far.txn, len(s.distant.far.held)
	}
}

// foresee reads what the commit of a transaction will need, in one round trip.
func (d drafted) foresee(ctx context.Context, s *snapshot) error {
	if s == nil || s.distant == nil {
		return nil
	}
	var r Request
	for _, key := range s.distant.far.same {
		r.Points = append(r.Points, Point{Key: key})
	}
	for _, span := range s.distant.far.news {
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
		d.m.point(r.Points[i].Key, reply.Points[i].Value, d.version())
	}
	for i := range r.Ends {
		d.m.end(r.Ends[i].Span, false, foundEnd{reply.Ends[i].Key, d.version()})
	}
	return nil
}

// free fails if a transaction of another server has a claim. What was not asked for
// together with the lock is asked for now, unless there are no claims at all.
func (r *recalled) free(ctx context.Context, c Claim) error {
	if !r.foreign {
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
