package postgres

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kvshared"
)

// Hold returns the latest state.
func (s *store) Hold(ctx context.Context, catalog int64) (kvshared.Snapshot, error) {
	v, err := s.hold(ctx, &view{catalog: catalog})
	if v == nil {
		return nil, err
	}
	return v, err
}

// hold begins the transaction of a state that is kept. With an error, what it returns
// must be closed unless it is nil.
func (s *store) hold(ctx context.Context, v *view) (_ *view, err error) {
	v.s, v.from, v.held = s, s.pool, true
	switch v.l, err = s.pool.hold(ctx); {
	case errors.Is(err, storage.ErrManySnapshots):
		return nil, err
	case err != nil:
		v.l, v.lost = lease{}, true
		return v, s.explain(ctx, err)
	}
	s.held.add(v.l.conn)
	_, err = v.Read(ctx, &kvshared.Request{})
	return v, err
}

// A state can be held by several servers. The first one asks the database for a name of
// it, and stores that with the version of the state under a number. Another one begins
// its transaction with that name, which succeeds as long as the first one's is open.
//
// Two states of the same version are the same. So a name is only believed if the version
// is right: after a restart of the database it may be that of another transaction. And if
// nothing has been committed since, any new transaction will do, also over a database
// that gives no names.

// nameSnapshot gives the state of a transaction a name that others can begin with.
const nameSnapshot = `select pg_export_snapshot()`

// takeSnapshot makes a transaction begin with the state of another one.
func takeSnapshot(name string) string {
	return `set transaction snapshot ` + literal(name)
}

// HoldNumbered is Hold for a state that other servers may hold.
func (s *store) HoldNumbered(ctx context.Context, catalog int64, next func() uint64) (kvshared.Snapshot, uint64, error) {
	v, err := s.hold(ctx, &view{catalog: catalog, share: !s.noNames.Load()})
	var pe *pgconn.PgError
	if v != nil && v.share && errors.As(err, &pe) && (strings.HasPrefix(pe.Code, "42") || isUnsupported(err)) {
		v.Close()
		s.noNames.Store(true)
		v, err = s.hold(ctx, &view{catalog: catalog})
	}
	if v == nil {
		return nil, 0, err
	}
	if err == nil {
		err = s.numbered(ctx, v, next)
	}
	return v, v.number, err
}

// numbered stores the name of a state under a number.
func (s *store) numbered(ctx context.Context, v *view, next func() uint64) error {
	l, err := s.pool.get(ctx)
	if err != nil {
		return s.explain(ctx, err)
	}
	defer s.pool.put(l)
	for {
		number, taken := next(), true
		l.queue(addNumber, int8Value(int64(number)), []byte(s.id), int8Value(v.head.Version), []byte(v.name))
		err := l.run(ctx, func(int, [][]byte) error { taken = false; return nil })
		if err != nil || !taken {
			v.number = number
			return s.explain(ctx, err)
		}
	}
}

// HoldAt holds the state with a number.
func (s *store) HoldAt(ctx context.Context, number uint64) (kvshared.Snapshot, error) {
	version, name, err := s.findNumber(ctx, number)
	if err != nil {
		return nil, err
	}
	names := []string{name, ""}
	if name == "" {
		names = names[1:]
	}
	for _, name := range names {
		v, err := s.hold(ctx, &view{catalog: 1 << 62, name: name})
		if err == nil && v.head.Version == version {
			return v, nil
		}
		if v != nil {
			v.Close()
		}
		var pe *pgconn.PgError // such as that the name is not known
		if err != nil && !errors.As(err, &pe) {
			return nil, err
		}
	}
	return nil, storage.ErrNoSnapshot
}

// findNumber returns the version and the name of the state with a number.
func (s *store) findNumber(ctx context.Context, number uint64) (version int64, name string, err error) {
	l, err := s.pool.get(ctx)
	if err != nil {
		return 0, "", s.explain(ctx, err)
	}
	defer s.pool.put(l)
	found := false
	l.queue(findNumber, int8Value(int64(number)))
	err = l.run(ctx, func(_ int, row [][]byte) error {
		version, name, found = int64Of(row[0]), string(row[1]), true
		return nil
	})
	if err == nil && !found {
		err = storage.ErrNoSnapshot
	}
	return version, name, s.explain(ctx, err)
}

// forgetNumber removes the number of a state, soon.
func (s *store) forgetNumber(number uint64) {
	s.ending.Lock()
	defer s.ending.Unlock()
	if s.closed.Load() { // then all numbers of the server are removed
		return
	}
	s.work.Go(func() {
		ctx, end := context.WithTimeout(s.life, statsTime)
		defer end()
		if l, err := s.pool.get(ctx); err == nil {
			defer s.pool.put(l)
			l.queue(dropNumber, int8Value(int64(number)), []byte(s.id))
			_ = l.run(ctx, nil) // otherwise it is removed when a server starts
		}
	})
}
