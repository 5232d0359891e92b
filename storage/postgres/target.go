package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
)

// unfinished is the format of tables into which data are being copied. No version
// of the server uses such tables.
const unfinished = 1 << 40

// ErrUnfinished reports tables with an unfinished copy.
var ErrUnfinished = errors.New("an unfinished copy")

var (
	errTargetInUse = errors.New("another process copies data into these tables, or makes them")
	errNoTables    = errors.New("there are no tables of DuskDB")
)

func unfinishedError(schema string) error {
	return fmt.Errorf("the schema %s has %w: run \"duskdb copy\" into it once more, which starts over, or drop the schema", quoted(schema), ErrUnfinished)
}

// Target is a schema into which data are copied. Its tables are marked, so that no
// server uses them until Finish; and they are locked for this process by a
// transaction that ends with it.
type Target struct {
	opts Options
	lock *conn
}

// NewTarget makes the tables. It fails if there are some already that have
// collections, or that servers use; what is left of an unfinished copy it removes.
func NewTarget(ctx context.Context, opts Options) (*Target, error) {
	opts.copying = true
	s := &store{opts: opts}
	var err error
	if s.config, err = s.opts.config(); err != nil {
		return nil, err
	}
	t := &Target{opts: opts}
	if t.lock, err = s.dial(ctx); err != nil {
		return nil, s.explain(ctx, err)
	}
	if err = t.begin(ctx, s); err != nil {
		t.lock.close()
		return nil, s.explain(ctx, err)
	}
	return t, nil
}

func (t *Target) begin(ctx context.Context, s *store) error {
	c := t.lock
	if err := s.createMeta(ctx, c); err != nil {
		return err
	}
	for _, setting := range []string{"set idle_in_transaction_session_timeout = 0", "set lock_timeout = '10s'"} {
		c.simple(setting)
		if err := c.run(ctx, nil); c.broken != nil { // a database may lack them
			return err
		}
	}
	found, err := t.take(ctx)
	if err != nil {
		return err
	}
	if found != 0 {
		if err := t.vacant(ctx, found, s.opts.Schema); err != nil {
			return err
		}
		for _, table := range tables {
			c.simple("drop table if exists " + table)
		}
	}
	for _, step := range migrations {
		for _, sql := range step {
			c.simple(sql)
		}
	}
	c.simple(fmt.Sprintf("update meta set format = %d", int64(unfinished)))
	c.simple("commit")
	if err := c.run(ctx, nil); err != nil {
		return err
	}
	_, err = t.take(ctx)
	return err
}

// take begins a transaction that locks the tables for this process, and returns
// their format.
func (t *Target) take(ctx context.Context) (found int64, err error) {
	c := t.lock
	c.simple("begin")
	c.simple("insert into meta values (1, 0) on conflict do nothing")
	c.simple("select format::text from meta for update nowait")
	err = c.run(ctx, func(_ int, v [][]byte) error {
		_, err := fmt.Sscan(string(v[0]), &found)
		return err
	})
	if isLockTimeout(err) {
		return 0, errTargetInUse
	}
	return found, err
}

// vacant returns an error if the tables are of use to anybody.
func (t *Target) vacant(ctx context.Context, found int64, schema string) error {
	if found == unfinished {
		return nil
	}
	if found > int64(format) {
		return newerFormat(ctx, t.lock, schema, found)
	}
	var counts [2]int
	t.lock.simple("select count(*)::text from server where until > now()")
	t.lock.simple("select count(*)::text from catalog")
	err := t.lock.run(ctx, func(n int, v [][]byte) error {
		_, err := fmt.Sscan(string(v[0]), &counts[n])
		return err
	})
	switch {
	case err != nil:
		return err
	case counts[0] > 0:
		return fmt.Errorf("%d servers use the schema %s: stop them, and name a schema that is empty", counts[0], quoted(schema))
	case counts[1] > 0:
		return fmt.Errorf("the schema %s is not empty, it has %d collections: %w; name another one (schema=NAME in the URI), or drop it", quoted(schema), counts[1], storage.ErrExists)
	}
	return nil
}

// Open opens an engine over the tables.
func (t *Target) Open(ctx context.Context) (*Engine, error) { return Open(ctx, t.opts) }

// Held fails if the tables do not belong to this process any more.
func (t *Target) Held(ctx context.Context) error {
	t.lock.simple("select 1")
	if err := t.lock.run(ctx, nil); err != nil {
		return fmt.Errorf("the lock of the tables is lost: %w", err)
	}
	return nil
}

// Finish makes the tables like any others.
func (t *Target) Finish(ctx context.Context) error {
	t.lock.simple(fmt.Sprintf("update meta set format = %d", format))
	t.lock.simple("commit")
	err := t.lock.run(ctx, nil)
	if err == nil || t.lock.broken == nil {
		t.lock.close()
		return err
	}
	return t.finished(ctx, err)
}

// finished finds out whether the last step of a copy has happened, whose answer
// was lost.
func (t *Target) finished(ctx context.Context, cause error) error {
	s := &store{opts: t.opts}
	var err error
	if s.config, err = s.opts.config(); err != nil {
		return err
	}
	for try := range 20 {
		found := int64(0)
		if found, err = s.readFormat(ctx); err == nil && found == int64(format) {
			return nil
		} else if err == nil {
			return cause
		}
		select {
		case <-clock.System().After(time.Duration(try) * 50 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return fmt.Errorf("whether the copy is complete is not known: %w", errors.Join(cause, err))
}

// Close gives up what was not finished: the tables stay marked.
func (t *Target) Close() error {
	t.lock.close()
	return nil
}
