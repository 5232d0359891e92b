// Package postgres is the storage engine for several servers over one database:
// PostgreSQL 13 or newer, or what speaks its protocol, below package kv.
//
// # Tables
//
// All tables are in a schema of their own. kv has records and index entries, by
// the number of their collection and a key that sorts as its bytes do; each row
// has the version of the commit that wrote it. catalog and stats have a row for
// each collection, and head has one row, whose lock puts the commits of all
// servers in order. claim has what open snapshot transactions have written: the trip
// that takes the lock looks there for what its updates are about to write. A claim
// counts as long as its row exists. The others remove those of a server that was not
// heard of for a while, and a transaction whose claims are gone cannot be committed.
// snapshot has the states that all servers may read, by the numbers that clients know.
// Nothing is stored as code, and nothing needs an extension.
//
// # Round trips
//
// Each method of the store that reads makes one round trip. A View begins its
// transaction together with its first read, and does not wait for its end. Reads of single
// documents that come at the same time share trips. A commit
// is one, if everything is as the server takes it for; otherwise two more: one takes
// the lock and reads, the other writes and commits.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kv"
	"github.com/duskdb/duskdb/storage/internal/kvshared"
)

// Options open an engine.
type Options struct {
	// URI names the database: postgres://user:password@host:port/database?…, with
	// the parameters of libpq, and those of the engine: passwordFile, schema (duskdb), poolSize
	// (16) and snapshots (32).
	URI string
	// Indexer gives meaning to index specifications. Required.
	Indexer storage.Indexer
	// Schema, PoolSize and Snapshots stand for the parameters of the URI.
	Schema    string
	PoolSize  int // connections for reads
	Snapshots int // transactions that may be open at the same time
	// Watched reports whether other servers must see the commits to a collection at
	// once, because they keep what is in it. May be nil.
	Watched func(storage.Namespace) bool
	// Address is how clients reach the server, for the list of servers.
	Address string
	// Logger receives messages about background work.
	Logger func(format string, args ...any)
	// Version is that of DuskDB, which the tables that it makes are marked with.
	Version string
	// MustExist makes Open fail if there are no tables, instead of making them.
	MustExist bool
	copying   bool // the tables have an unfinished copy, of this process
	// Silence is how long the database waits for a server that has the lock of the
	// head and sends nothing, because it has stopped or is cut off: then others get the
	// lock, and the commit fails. 0 means 8 seconds.
	Silence time.Duration
	// Clock is the machine's; nil: the system's. Only the time that passes by it matters.
	Clock clock.Clock
	// Trips is called for each round trip. It is for tests.
	Trips func()
}

// The defaults of options.
const (
	DefaultSchema    = "duskdb"
	DefaultPoolSize  = 16
	DefaultSnapshots = 32
)

// config reads the URI and completes the options.
func (o *Options) config() (*pgconn.Config, error) {
	if o.Indexer == nil {
		return nil, errors.New("postgres: no indexer")
	}
	config, err := pgconn.ParseConfig(o.URI)
	if err != nil {
		return nil, &uriError{o.URI, withoutPassword(err)}
	}
	if err := takePassword(config); err != nil {
		return nil, err
	}
	if err := o.parameters(config.RuntimeParams); err != nil {
		return nil, err
	}
	if o.Schema == "" {
		o.Schema = DefaultSchema
	}
	if o.PoolSize <= 0 {
		o.PoolSize = DefaultPoolSize
	}
	if o.Snapshots <= 0 {
		o.Snapshots = DefaultSnapshots
	}
	if o.Silence <= 0 {
		o.Silence = lifetime - margin
	}
	if o.Logger == nil {
		o.Logger = func(string, ...any) {}
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 5 * time.Second
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "duskdb"
	}
	dialer := net.Dialer{Timeout: config.ConnectTimeout, KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 3}, Control: impatientSocket}
	config.DialFunc = dialer.DialContext
	return config, nil
}

// takePassword reads the password from the file that the parameter passwordFile names.
func takePassword(config *pgconn.Config) error {
	const name = "passwordFile"
	path := config.RuntimeParams[name]
	delete(config.RuntimeParams, name)
	if path == "" {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("the password of the database: %w", err)
	}
	config.Password = strings.TrimRight(string(text), "\r\n")
	return nil
}

// parameters takes the engine's own parameters of the URI.
func (o *Options) parameters(params map[string]string) error {
	take := func(name string) string {
		v := params[name]
		delete(params, name)
		return v
	}
	if v := take("schema"); v != "" && o.Schema == "" {
		o.Schema = v
	}
	for name, to := range map[string]*int{"poolSize": &o.PoolSize, "snapshots": &o.Snapshots} {
		v := take(name)
		if v == "" || *to != 0 {
			continue
		}
		if n, err := fmt.Sscanf(v, "%d", to); n != 1 || err != nil || *to < 1 {
			return fmt.Errorf("%s in the URI of the database is %q, not a number above 0", name, v)
		}
	}
	return nil
}

// withoutPassword makes an error of a URI without what the URI says.
func withoutPassword(err error) error {
	text := err.Error()
	if i := strings.LastIndex(text, "`"); i >= 0 { // it quotes the URI before
		text = strings.TrimLeft(text[i+1:], ": ")
	}
	return errors.New(text)
}

// Engine is a storage.Engine over PostgreSQL.
type Engine struct {
	*kvshared.Engine
	store *store
}

var (
	_ storage.Engine     = (*Engine)(nil)
	_ storage.Sharer     = (*Engine)(nil)
	_ storage.Timekeeper = (*Engine)(nil)
)

// Open connects to the database, makes the tables if they are missing, and reads
// the catalog.
func Open(ctx context.Context, opts Options) (*Engine, error) {
	var pause storage.Backoff
	for {
		e, err := open(ctx, opts)
		if !errors.Is(err, storage.ErrUnavailable) {
			return e, err
		}
		select { // it was there when the tables were made, and will come back
		case <-clock.System().After(pause.Next()):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func open(ctx context.Context, opts Options) (*Engine, error) {
	s, err := openStore(ctx, opts)
	if err != nil {
		return nil, err
	}
	e, err := kvshared.Open(ctx, s, kv.Options{Name: "postgres", Persistent: true, Indexer: opts.Indexer, Watched: opts.Watched, Snapshots: s.opts.Snapshots})
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &Engine{Engine: e, store: s}, nil
}
