package storage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/value"
)

// RecordID addresses a record within its collection. Ids start at 1 and grow;
// 0 stands for no record.
type RecordID int64

// Record is one stored document.
type Record struct {
	ID  RecordID
	TS  int64 // last write, milliseconds since the epoch
	Doc value.Doc
}

// Namespace names a collection within a database.
type Namespace struct{ DB, Coll string }

// String returns "db.coll".
func (n Namespace) String() string { return n.DB + "." + n.Coll }

// Errors of the contract. Engines return these, possibly wrapped.
var (
	ErrNotFound = errors.New("namespace not found")
	ErrExists   = errors.New("namespace exists")
	// ErrUUIDExists is returned by CreateAs if another collection has the UUID.
	ErrUUIDExists = errors.New("UUID exists")
	ErrNoIndex    = errors.New("index not found")
	ErrNoRecord   = errors.New("record not found")
	ErrConflict   = errors.New("write conflict")
	ErrClosed     = errors.New("engine is closed")
	ErrReadOnly   = errors.New("transaction is read only")
	ErrLocked     = errors.New("data directory is in use by another process")
	// ErrDamaged says that what was read is not what was written.
	ErrDamaged = errors.New("the data are damaged")
	// ErrUnavailable says that the database that has the data cannot be reached. What
	// was to be written is not, unless the connection was lost in the middle of a commit and
	// the database stays away: then that is not known.
	ErrUnavailable = errors.New("the database cannot be reached")
)

// DuplicateKeyError reports that a unique index already has the key.
type DuplicateKeyError struct {
	Namespace Namespace
	Index     string   // name of the violated index
	Key       []byte   // the encoded key
	Existing  RecordID // the record that has it
}

func (e *DuplicateKeyError) Error() string {
	return "duplicate key in index " + e.Index + " of " + e.Namespace.String()
}

// Engine is a store. All methods are safe for concurrent use.
type Engine interface {
	// View runs fn on the latest committed state.
	View(ctx context.Context, fn func(Tx) error) error
	// Update runs fn as a writer and commits unless it fails. fn may run more
	// than once, for instance after a conflict with another server: it must start
	// over each time and leave no trace outside the transaction. The writes of an
	// earlier run are undone, and its operations may have failed for reasons of the engine.
	Update(ctx context.Context, fn func(Tx) error) error
	// Begin opens a snapshot transaction, which must be ended.
	Begin(ctx context.Context) (Txn, error)
	// Stamp is a number that changes with every committed change of a
	// collection, be it to a record, an index, the options or the name. It is 0
	// while there is no collection of that name. What was read in a View that
	// began after Stamp is not older than the stamp, so a reader who keeps it
	// has to read again only when the stamp has changed. Stamps are not
	// stored: they count while the engine is open. Stamp costs much less than a
	// View.
	Stamp(ns Namespace) (uint64, error)
	// CommitStamp returns the greatest stamp that this server knows of that
	// [Tx.CommitStamp] has returned; 0 before the first. It costs next to nothing.
	CommitStamp() uint64
	// Changes returns a channel that receives a value when another server has
	// committed something, or has ended a snapshot transaction that had written; nil if the data belong to this process alone. One value
	// stands for all changes since the last was received, so that a single reader of
	// the channel misses none. It always returns the same channel.
	Changes() <-chan struct{}
	// Lease reports whether this server is the one that runs a background job
	// now. Of several servers over the same data one has the lease of a job; it
	// passes to another within 10 seconds of its owner's end, so that two owners
	// may overlap for a moment. The first server that asks has it at once, and has it
	// as long as it lives, whether or not it asks again. job is any text. Lease must
	// not be called in a transaction.
	Lease(job string) bool
	// Snapshots says how many snapshot transactions may be held open at leisure,
	// and for how long.
	Snapshots() SnapshotLimits
	// Sync returns when all updates committed before the call are on disk.
	Sync(ctx context.Context) error
	// Stats describes the engine for serverStatus.
	Stats() (EngineStats, error)
	// Compact reclaims the space of overwritten and deleted records.
	Compact(ctx context.Context) error
	// Close syncs and releases everything.
	Close() error
}

// Sharer is an engine that can commit the updates of several goroutines
// together, which costs less than one by one.
type Sharer interface {
	// UpdateShared is like Update, but fn may run more than once, and on another
	// goroutine: it must start over each time. The writes of an earlier run are
	// undone, and it may have taken unique keys for new that are not.
	UpdateShared(ctx context.Context, fn func(Tx) error) error
}

// BriefViewer is an engine to which a View of a single read costs less than others.
type BriefViewer interface {
	// ViewBriefly is View for a function that is likely to read once. It may run again
	// at any time, also after it has got records: it must start over each time.
	ViewBriefly(ctx context.Context, fn func(Tx) error) error
}

// ViewBriefly runs fn in a View of any engine, which may make use of it that fn is
// likely to read once, and starts over each time that it runs.
func ViewBriefly(ctx context.Context, e Engine, fn func(Tx) error) error {
	if b, ok := e.(BriefViewer); ok {
		return b.ViewBriefly(ctx, fn)
	}
	return e.View(ctx, fn)
}

// IndexPreparer is an engine that can do most of the work of a CreateIndex in
// advance, while writers continue.
type IndexPreparer interface {
	// PrepareIndex builds the index over the present records. A CreateIndex with
	// the same specification, before release is called, then only applies the
	// changes made since. If PrepareIndex fails, CreateIndex may still succeed.
	PrepareIndex(ctx context.Context, ns Namespace, spec IndexSpec) (release func(), err error)
}

// Repacker is an engine whose data in memory can come to lie scattered.
type Repacker interface {
	// Repack moves data in memory together, so that what lies between becomes free. It
	// changes nothing that a transaction could see.
	Repack(ctx context.Context) error
}

// Restorer is a Collection that can take over records of another engine. The
// collections that an Update hands out are Restorers.
type Restorer interface {
	// Restore stores a record as it is, with its id, which must be above LastID,
	// and its instant of writing.
	Restore(r Record) error
}

// Restore stores records of another engine in a collection, in the order of their ids;
// see [Restorer].
func Restore(tx Tx, ns Namespace, records []Record) error {
	c, err := tx.Collection(ns)
	if err != nil {
		return err
	}
	restorer, ok := c.(Restorer)
	if !ok {
		return errors.New("this engine cannot take over records with their ids")
	}
	for _, r := range records {
		if err := restorer.Restore(r); err != nil {
			return fmt.Errorf("record %d: %w", r.ID, err)
		}
	}
	return nil
}

// Timekeeper is an engine whose database has a clock. All servers over the data follow
// it, so that they agree about what has expired whatever the clocks of their machines
// show.
type Timekeeper interface {
	// Clock returns the database's clock. It costs about as much to read as that of
	// the machine, and shows the time while the database is away, too.
	Clock() clock.Clock
}

// ErrManySnapshots is the conflict of a snapshot transaction that cannot begin because too
// many are open. It can once one of them has ended.
var ErrManySnapshots = fmt.Errorf("too many transactions are open on this server: %w", ErrConflict)

// SnapshotLimits bounds the snapshots that reads of a session keep for later
// reads of the same state.
type SnapshotLimits struct {
	Max    int           // snapshots open at the same time
	MaxAge time.Duration // age at which one may be given up
	Linger time.Duration // how long one is kept that no session reads any more; 0: as the others
}

// DefaultSnapshots are the limits of an engine to which an open snapshot costs
// little.
var DefaultSnapshots = SnapshotLimits{Max: 256, MaxAge: 5 * time.Minute}

// EngineStats are totals since open, and sizes now.
type EngineStats struct {
	Name       string // "bunt"
	Persistent bool
	// Resident reports whether the data are in the memory of the process, so that
	// a limit on memory limits the data.
	Resident      bool
	FileBytes     int64 // size of the log on disk
	Commits       int64
	Syncs         int64
	SyncErrors    int64
	OpenSnapshots int64
	RecoveredCut  int64 // bytes of a torn tail cut off on open
	// CommitTimes is how long the commits took within the engine, without the
	// function of the Update and without waiting for other writers. SyncTimes is how
	// long each sync took; empty if the engine does not sync by itself.
	CommitTimes, SyncTimes DurationCounts
}

// Txn is a snapshot transaction.
type Txn interface {
	Tx
	// Within sets the context of the operations that follow, which ends with the
	// statement that they belong to. Until the first call it is that of Begin.
	Within(ctx context.Context)
	// Commit applies the writes. It returns ErrConflict if another writer was
	// first.
	Commit(ctx context.Context) error
	// CommitWith is a Commit that calls last after applying the writes, as part
	// of the same Update: the writes of last are committed with them. last is not
	// called if the transaction has written nothing.
	CommitWith(ctx context.Context, last func(Tx) error) error
	// Abort discards the writes. After Commit it does nothing.
	Abort()
}

// LateClaimer is a Txn that asks other servers whether they have written what it writes. It
// does so at each write, or for many together.
type LateClaimer interface {
	// ClaimLater lets the writes that follow wait with that for Claim.
	ClaimLater()
	// Claim asks for all writes since ClaimLater. If it fails with ErrConflict, as one of
	// them would have, the transaction must be aborted.
	Claim() error
}

// Tx is the catalog as one transaction sees it. A Tx and the Collections it
// hands out belong to one goroutine and to the lifetime of the function they
// were given to (or of the Txn).
type Tx interface {
	// Collection opens a collection; ErrNotFound if it does not exist.
	Collection(ns Namespace) (Collection, error)
	// Collections lists the collections of a database ("" for all),
	// ordered by namespace.
	Collections(db string) ([]*Info, error)
	// Databases calls each for the databases that have collections, in their order from
	// a name on, until it returns false. The number of collections does not matter.
	Databases(from string, each func(db string) bool) error
	// Create creates a collection with its options (an opaque document) and its
	// first indexes.
	Create(ns Namespace, options value.Doc, indexes []IndexSpec) (Collection, error)
	// CreateAs is Create with a UUID that the caller chooses, such as the one
	// that the collection has on another server. It fails with ErrUUIDExists if
	// another collection has it.
	CreateAs(ns Namespace, id [16]byte, options value.Doc, indexes []IndexSpec) (Collection, error)
	// Drop removes a collection.
	Drop(ns Namespace) error
	// Rename moves a collection; the target must not exist.
	Rename(from, to Namespace) error
	// SetOptions replaces a collection's options.
	SetOptions(ns Namespace, options value.Doc) error
	// CreateIndex adds an index over the existing records. It fails with
	// DuplicateKeyError if they violate it, or with the Index's error.
	CreateIndex(ns Namespace, spec IndexSpec) error
	// DropIndex removes an index.
	DropIndex(ns Namespace, name string) error
	// SetIndex replaces the specification of an index whose keys stay the
	// same (expireAfterSeconds, hidden, …).
	SetIndex(ns Namespace, spec IndexSpec) error
	// CommitStamp returns a number for a record that this transaction writes, such
	// as an entry of a log: not below atLeast, and greater than those that all
	// commits before have got, on whichever server. So the stamps of the commits
	// grow in the order of the commits; the next call within the transaction
	// returns a greater one. The stamps of runs that were undone are lost. It fails
	// with ErrReadOnly outside of an Update, also in a snapshot transaction, whose
	// place among the commits is only known by the last of [Txn.CommitWith].
	//
	// An embedded engine may forget its stamps when it is closed, so the caller
	// must pass a number above those that it has stored.
	CommitStamp(atLeast uint64) (uint64, error)
}

// IndexSpec is an index's name and its opaque specification.
type IndexSpec struct {
	Name string
	Spec value.Doc
}

// Info describes a collection. It is immutable; a change to the catalog
// creates a new one.
type Info struct {
	Namespace Namespace
	UUID      [16]byte // unique, and kept when the collection is renamed
	// Version changes with every change of the description. Infos of one UUID
	// with the same Version are equal.
	Version uint64
	Options value.Doc
	Indexes []IndexInfo
	// Meta is the value that the Indexer's Attach returned for the options and
	// indexes.
	Meta any
}

// Index finds an index by name, or nil.
func (i *Info) Index(name string) *IndexInfo {
	for k := range i.Indexes {
		if i.Indexes[k].Name == name {
			return &i.Indexes[k]
		}
	}
	return nil
}

// IndexInfo describes an index of a collection.
type IndexInfo struct {
	IndexSpec
	Index Index
}

// Indexer compiles index specifications. The package that knows their meaning
// implements it; the engine receives it when it is opened.
type Indexer interface {
	// Index compiles a specification.
	Index(options value.Doc, spec IndexSpec) (Index, error)
	// Attach returns the Meta of an Info whenever its options or indexes change.
	// It must not fail: it leaves out what it cannot read.
	Attach(info *Info) any
}

// Index makes index keys. It is safe for concurrent use.
type Index interface {
	// Keys appends the record's keys, each complete, without RecordID. The slices
	// must not alias each other's capacity. multikey says on which paths the
	// record makes the index multikey (an array was expanded), also if it has a
	// single key.
	Keys(dst [][]byte, r Record) (keys [][]byte, multikey Multikey, err error)
	// Order is the part of a key that counts for uniqueness and look-ups. The
	// bytes behind it distinguish values that are equal there, such as 1 and 1.0. If
	// there may be such bytes, no Order is the beginning of another one, and that of
	// an Order with any bytes behind it is this Order.
	Order(key []byte) []byte
	// Unique reports whether two records may not share the [Index.Order] of
	// a key.
	Unique() bool
	// Private reports whether the index is one of the server's own, whose keys
	// [Written] does not count.
	Private() bool
}

// KeyKeeper is an Index that can see at little cost that a change of a record leaves its
// keys as they are. An engine need not ask it.
type KeyKeeper interface {
	// KeepsKeys reports whether two versions of a record certainly have the same keys.
	KeepsKeys(old, new Record) bool
}

// KeyWriter is an Index that can write the key of most records into memory of the caller.
// An engine need not ask it.
type KeyWriter interface {
	// WriteKey appends the record's key to room, which is empty, if it is the only one and
	// the record does not make the index multikey. Otherwise ok is false, and
	// [Index.Keys] has the keys.
	WriteKey(room []byte, r Record) (key []byte, ok bool)
}

// Multikey is the set of paths on which an index found arrays, as bits that
// the Index defines. 0 means none. An index collects the bits of all its
// records and never clears one.
type Multikey uint64

// Range bounds a scan of records. Zero bounds are open.
type Range struct {
	After   RecordID // first id is above this (below, when Reverse)
	Until   RecordID // last id, inclusive; 0: to the end
	Reverse bool
	// Wanted is how many records the caller is likely to take; 0: it is not known. An
	// engine to which each read is a round trip reads so many at a time, if they are
	// not too large.
	Wanted int
}

// KeyRange bounds a scan of an index: Lo <= key < Hi in byte order, empty
// bounds are open. A key with bytes appended (a longer compound key) lies
// directly behind its prefix.
type KeyRange struct {
	Lo, Hi  []byte
	Reverse bool
	// AfterKey and AfterID resume a scan behind an entry seen before, in the
	// direction of the scan. The engine copies AfterKey when the scan begins, so
	// the caller may overwrite it during the scan.
	AfterKey []byte
	AfterID  RecordID
	Wanted   int // how many entries the caller is likely to take, as that of a Range
}

// Written is what a write has replaced or removed.
type Written struct {
	Old  Record // before the write
	Keys int    // entries removed from the indexes that are not private
}

// Collection is a collection within a transaction. Methods that read fail if
// the data cannot be read; that there is no such record is no error.
type Collection interface {
	// Info is the collection's description.
	Info() *Info
	// Get reads a record.
	Get(id RecordID) (r Record, ok bool, err error)
	// GetMany yields the records with these ids, in their order and without those
	// that do not exist, until fn returns false. It costs less than a Get for each.
	GetMany(ids []RecordID, fn func(Record) bool) error
	// Insert stores a new document. ts is the instant of writing.
	Insert(doc value.Doc, ts int64) (RecordID, error)
	// Update replaces the document of a record; ErrNoRecord if it is gone.
	Update(id RecordID, doc value.Doc, ts int64) (Written, error)
	// Delete removes a record; ErrNoRecord if it is gone.
	Delete(id RecordID) (Written, error)
	// DeleteRange removes the records of a range that d.Pick chooses: as a Delete of
	// each would, but in one pass, and all of them or, if it fails, none. It costs
	// less than scanning and deleting one by one.
	DeleteRange(d *RangeDelete) (RangeDeleted, error)
	// Truncate removes all records.
	Truncate() error
	// Scan yields records in the order of their ids until fn returns false. fn
	// must not write to the collection.
	Scan(r Range, fn func(Record) bool) error
	// ScanIndex yields index entries in key order until fn returns false. fn must
	// not write to the collection. key is valid only during the call.
	ScanIndex(name string, r KeyRange, fn func(key []byte, id RecordID) bool) error
	// ScanRecords is ScanIndex with the records that the entries lead to. The
	// engine may read them ahead, so a caller that can do without them should use
	// ScanIndex.
	ScanRecords(name string, r KeyRange, fn func(key []byte, r Record) bool) error
	// Find returns the first record whose entry in the index has exactly
	// this key as its [Index.Order]: the fast path for unique look-ups.
	Find(index string, key []byte) (Record, bool, error)
	// Count is the number of records.
	Count() (int64, error)
	// Size is the sum of the document lengths in bytes.
	Size() (int64, error)
	// LastID is the id of the newest record ever inserted.
	LastID() (RecordID, error)
	// IndexStats returns the number of entries of an index, their bytes,
	// and where records made it multikey.
	IndexStats(name string) (IndexStats, error)
}

// IndexStats describes the entries of an index.
type IndexStats struct {
	Entries  int64
	Bytes    int64
	Estimate bool     // Entries and Bytes are not exact
	Multikey Multikey // always exact
}
