package kvshared

import (
	"context"
	"maps"
	"math"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kv"
)

// dbTurn is the lock of the head.
type dbTurn struct {
	dbView
	txn  int64
	over bool
}

func (s *server) Lock(ctx context.Context, r *Request) (Turn, *Reply, error) {
	s.interrupt("lock")
	select {
	case <-s.db.lock:
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
	d := s.db
	d.mu.Lock()
	defer d.mu.Unlock()
	t := &dbTurn{dbView: dbView{s: s, catalog: math.MaxInt64, state: d.now, reads: 1}, txn: r.Txn}
	held := 0
	for _, by := range d.claims {
		if by == (dbClaim{s.name, r.Txn}) {
			held++
		}
	}
	err := s.trip("lock")
	if err == nil && r.Txn != 0 && held != r.Held {
		err = storage.ErrConflict
	}
	if err != nil {
		t.Close()
		return nil, nil, err
	}
	reply := d.answer(s.name, d.now, r)
	reply.Foreign = d.foreign(s.name)
	return t, reply, nil
}

func (t *dbTurn) Keep() {}

func (t *dbTurn) Close() {
	if !t.over {
		t.over, t.closed = true, true
		t.s.db.lock <- struct{}{}
	}
}

func (t *dbTurn) Commit(_ context.Context, w *kv.WriteSet, h Head) error {
	defer t.Close()
	d := t.s.db
	d.mu.Lock()
	if err := t.s.trip("commit"); err != nil {
		d.mu.Unlock()
		return err
	}
	d.now = d.now.with(w, h)
	d.drop(dbClaim{t.s.name, t.txn})
	d.mu.Unlock()
	d.tell(nil)
	return nil
}

func (t *dbTurn) Seen(context.Context, int64) { t.s.db.tell(nil) }

func (s *server) Attempt(_ context.Context, w *kv.WriteSet, before, after Head, c *Conditions) error {
	s.interrupt("attempt")
	<-s.db.lock
	s.db.mu.Lock()
	s.attempt = c
	err := s.trip("attempt")
	if err == nil && !s.db.meets(s.name, before, c) {
		err = ErrMoved
	}
	if err == nil {
		after.Catalog, after.Numbers = s.db.now.head.Catalog, s.db.now.head.Numbers
		s.db.now = s.db.now.with(w, after)
	}
	s.db.mu.Unlock()
	s.db.lock <- struct{}{}
	if err == nil {
		s.db.tell(nil)
	}
	return err
}

// meets reports whether the conditions of an attempt hold.
func (d *database) meets(server string, before Head, c *Conditions) bool {
	st := d.now
	if st.head.Version != before.Version || d.foreign(server) {
		return false
	}
	for _, none := range c.None {
		if len(st.keys(none, false, 1)) > 0 {
			return false
		}
	}
	for _, row := range c.Stats {
		if st.stats[row.Num].Version != row.Version {
			return false
		}
	}
	return true
}

func (s *server) Claim(_ context.Context, r *ClaimRequest) (granted []bool, same bool, err error) {
	d := s.db
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := s.trip("claim"); err != nil {
		return nil, false, err
	}
	same = true
	for _, c := range r.Take {
		by, taken := d.claims[c.id()]
		free := !taken || by.server == s.name
		if granted = append(granted, free); free {
			d.claims[c.id()] = dbClaim{s.name, r.Txn}
		}
	}
	for _, c := range r.Free {
		same = same && !d.claimedByOthers(s.name, c)
	}
	for _, key := range r.Same {
		row, ok := d.now.rows.Get(string(key))
		same = same && ok && row.version <= r.Seen
	}
	for _, span := range r.New {
		for _, key := range d.now.keys(span, false, 0) {
			row, _ := d.now.rows.Get(key)
			same = same && row.version <= r.Seen
		}
	}
	return granted, same, nil
}

func (s *server) Release(txn int64) {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	s.db.drop(dbClaim{s.name, txn})
}

func (d *database) drop(gone dbClaim) {
	maps.DeleteFunc(d.claims, func(_ string, by dbClaim) bool { return by == gone })
}

// claimedByOthers reports whether a transaction of another server has a claim.
func (d *database) claimedByOthers(server string, c Claim) bool {
	id := c.id()
	for key, by := range d.claims {
		if by.server != server && (key == id || c.All && len(key) > len(id) && key[:len(id)] == id) {
			return true
		}
	}
	return false
}

// foreign reports whether a transaction of another server has any claim.
func (d *database) foreign(server string) bool {
	for _, by := range d.claims {
		if by.server != server {
			return true
		}
	}
	return false
}
