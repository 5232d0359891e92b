package kvshared

import (
	"context"
	"errors"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kv"
)

// Store is an ordered key-value store that the engines of several servers
// use. Its methods take lists of reads, because each call is a round trip.
type Store interface {
	// Snapshot returns a state that its first read chooses: the latest one then. If
	// the catalog of that state is newer than the given version, reads fail with
	// [ErrStale]. With brief, the store may choose it for a single read: another one
	// fails with [ErrMoved] if anything has been committed since.
	Snapshot(catalog int64, brief bool) Snapshot
	// Hold is Snapshot for a state that is chosen at once and kept for long. There
	// may be only a few.
	Hold(ctx context.Context, catalog int64) (Snapshot, error)
	// HoldNumbered is Hold for a state that other servers may hold, too, as long as it is
	// open: under the first number that next returns and no other state has.
	HoldNumbered(ctx context.Context, catalog int64, next func() uint64) (Snapshot, uint64, error)
	// HoldAt holds the state with a number, whatever catalog it has;
	// [storage.ErrNoSnapshot] if no server holds it.
	HoldAt(ctx context.Context, number uint64) (Snapshot, error)
	storage.ReadingTeller
	// Catalog reads the latest catalog: the entries of all collections, with the
	// documents of those that have changed since a version.
	Catalog(ctx context.Context, since int64) (Head, []CatalogRow, error)
	// Lock waits until no other server commits, and makes all others wait. It also
	// reads, the latest state.
	Lock(ctx context.Context, r *Request) (Turn, *Reply, error)
	// Attempt commits in one round trip what a Turn would, the head of the state before
	// being known, if the conditions hold and no transaction of another server has
	// claims. Otherwise it writes nothing and fails with ErrMoved. What has been sent is not
	// cancelled when the context ends; but nobody waits any longer to learn what has become of
	// a commit whose answer was lost.
	Attempt(ctx context.Context, w *kv.WriteSet, before, after Head, c *Conditions) error
	// Claim makes a snapshot transaction claim what it writes, for all servers. It
	// returns which claims it has got, and whether everything is as it must be.
	Claim(ctx context.Context, r *ClaimRequest) (granted []bool, same bool, err error)
	// Release ends the claims of a transaction, soon. Those of a server that has died
	// end after a while.
	Release(txn int64)
	// Follow makes the store call fn with the statistics that other servers have
	// changed, and this one. fn reports whether others have changed anything. What it is
	// given beyond the version of h, it must be given again.
	Follow(fn func(h Head, changed []StatsRow) (bool, error))
	// Current reports whether fn has got all commits that had to be seen and have
	// returned.
	Current() bool
	// Name is that of this server among the living ones.
	Name() string
	// Living returns the names of all servers that are heard of.
	Living(ctx context.Context) ([]string, error)
	// Alone reports whether there are no other servers.
	Alone() bool
	// Changes receives a value after commits of other servers; see storage.Engine.
	Changes() <-chan struct{}
	// Lease reports whether a background job belongs to this server.
	Lease(job string) bool
	// Sync returns when all that was committed is on disk.
	Sync(ctx context.Context) error
	// Compact reclaims space.
	Compact(ctx context.Context) error
	// Stats fills in what the store knows.
	Stats(st *storage.EngineStats) error
	// Close releases everything.
	Close() error
}

// ErrStale says that the catalog has changed.
var ErrStale = errors.New("the catalog has changed")

// ErrMoved says that a state that was chosen for a single read cannot be had any more.
var ErrMoved = errors.New("the state is not there any more")

// Head is what commits change together.
type Head struct {
	Version int64  // version of the last commit
	Catalog int64  // the last version in which the catalog has changed
	Stamp   uint64 // the last that a commit has given
	Numbers uint32 // the last that a collection or an index has got
}

// CatalogRow is a collection in the catalog.
type CatalogRow struct {
	Num     uint32
	Version int64
	Doc     []byte // nil if it has not changed
	Stats   StatsRow
}

// StatsRow is the statistics of a collection, as of the last commit that has
// changed something of it.
type StatsRow struct {
	Num     uint32
	Version int64
	Row     []byte // nil if there is no such collection
}

// Snapshot is a state of a SharedStore. It belongs to one goroutine.
type Snapshot interface {
	// Read makes one round trip.
	Read(ctx context.Context, r *Request) (*Reply, error)
	// Head is that of the state; ok is false before the first read.
	Head() (h Head, ok bool)
	// Lost reports whether the state was lost before anything was read of it.
	Lost() bool
	// Moved reports whether a read has failed with ErrMoved.
	Moved() bool
	// Close releases the state.
	Close()
}

// Claim is what an open snapshot transaction has written: of two transactions one
// can have it.
type Claim struct {
	Num uint32
	Key []byte
	All bool // not a claim, but all those whose keys begin with Key
}

// ClaimRequest asks for claims.
type ClaimRequest struct {
	Txn  int64
	Take []Claim
	Free []Claim   // what no transaction of another server may have
	Same [][]byte  // keys that must be there as in the state of the version Seen
	New  []kv.Span // ranges in which nothing may be newer
	Seen int64
}

// Turn is the right to commit. What it reads does not change until it ends.
type Turn interface {
	Snapshot
	// Keep is called again and again while the caller works: the store gives the
	// turn of a server that has stopped to others.
	Keep()
	// Commit commits the writes, as a whole or not at all, and the head. The turn is over. The
	// context is as in Attempt.
	Commit(ctx context.Context, w *kv.WriteSet, h Head) error
	// Seen waits, after a commit, until all other servers have seen it.
	Seen(ctx context.Context, version int64)
}

// Request is a list of reads.
type Request struct {
	Points []Point
	Ends   []End
	Ranges []ReadRange
	Stats  []uint32
	Page   *Page
	Claims []Claim // which of these have the transactions of other servers?
	// Catalog reads the entries of all collections, with their documents.
	Catalog bool
	// Txn is the snapshot transaction that will be committed, with the number of its
	// claims. If it does not have them any more, Lock fails with
	// [storage.ErrConflict]; otherwise they end with the commit.
	Txn  int64
	Held int
}

// Empty reports whether nothing is to be read.
func (r *Request) Empty() bool {
	return r == nil || len(r.Points)+len(r.Ends)+len(r.Ranges)+len(r.Stats)+len(r.Claims) == 0 && r.Page == nil && !r.Catalog
}

// Point is a key to be read.
type Point struct {
	Key  []byte
	Seen int64 // the version of the state in which it was read before, 0: never
}

// End is the first or the last key of a range to be read.
type End struct {
	kv.Span
	Last bool
}

// ReadRange is a range that was read before: so many rows in the state of a
// version.
type ReadRange struct {
	kv.Span
	Rows int64
	Seen int64
}

// Page is a part of a range to be read.
type Page struct {
	kv.Span
	Reverse bool
	Limit   int  // 0: the store chooses
	Wanted  int  // how many rows are likely to be taken; 0: not known
	Size    int  // the average size of a value, as far as it is known
	Resumed bool // the range continues one that was read before: much of it is likely to be read
	Before  int  // pages of the range that were read before
	// Joined reads the records of entries instead of their values.
	Joined bool
}

// KV is a key and its value, which is nil if the key does not exist.
type KV struct{ Key, Value []byte }

// Reply has what a Request has asked for.
type Reply struct {
	Points []PointReply // in their order
	Ends   []KV         // in their order; the key is nil if the range is empty
	Ranges []bool       // in their order: whether they are as they were
	Stats  []StatsRow   // rows of those that exist
	Page   []KV
	More   bool // the range of the page goes on

	Catalog []CatalogRow
	Claimed []bool // in the order of the claims
	Foreign bool   // transactions of other servers have claims; set by Lock
}

// PointReply is what a key has.
type PointReply struct {
	Value []byte // nil: there is no such key, or it is as it was
	Same  bool   // the key has the value that was seen before
}
