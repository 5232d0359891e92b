package kernel

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Settings are what administrators decide for all clients: defaults for
// their commands, cluster parameters, a stop of all writes, index filters.
// Those that mongod keeps in the database config are kept there, under its
// names, and read at the start.
type Settings struct {
	Blocked atomic.Bool  // setUserWriteBlockMode
	ReadMS  atomic.Int64 // defaultMaxTimeMS.readOperations

	Mu      sync.Mutex
	Concern value.Doc            // of setDefaultRWConcern, as stored; nil: none
	Write   value.Doc            // its defaultWriteConcern
	Cluster map[string]value.Doc // cluster parameters that were set
	Filters IndexFilters
	Queries querySettings
}

// Where settings are kept.
var (
	ConcernNamespace = storage.Namespace{DB: "config", Coll: "settings"}
	ClusterNamespace = storage.Namespace{DB: "config", Coll: "clusterParameters"}
)

// ConcernID is the _id of the default concerns, as in mongod.
const ConcernID = "ReadWriteConcernDefaults"

// StoredSetting reads a document by its _id; nil: there is none.
func StoredSetting(tx storage.Tx, ns storage.Namespace, id string) (value.Doc, error) {
	coll, err := tx.Collection(ns)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r, ok, err := coll.Find(catalog.IdIndex, value.AppendKey(nil, value.String(id)))
	if err != nil || !ok {
		return nil, err
	}
	return r.Doc, nil
}

func (s *Settings) SetConcern(d value.Doc) {
	s.Concern, s.Write = d, d.Lookup("defaultWriteConcern").Doc()
}

// Settled returns the settings.
func (s *Service) Settled() *Settings { return &s.Settings }

// TimedReads are the commands that defaultMaxTimeMS.readOperations limits.
var TimedReads = map[string]bool{"find": true, "aggregate": true, "count": true, "distinct": true, "dbHash": true}

var ErrWritesBlocked = mongoerr.New(mongoerr.UserWritesBlocked, "User writes blocked")

// UserWrites are the commands that setUserWriteBlockMode stops.
var UserWrites = map[string]bool{
	"insert": true, "update": true, "delete": true, "findAndModify": true, "bulkWrite": true, "create": true, "drop": true,
	"dropDatabase": true, "renameCollection": true, "collMod": true, "createIndexes": true, "dropIndexes": true,
	"convertToCapped": true, "cloneCollectionAsCapped": true, "applyOps": true, "mqSend": true,
}

// WritesOut tells whether a pipeline ends in $out or $merge.
func WritesOut(pipeline value.Doc) bool {
	for stage := range pipeline.Values() {
		if name, _ := stage.Doc().First(); name == "$out" || name == "$merge" {
			return true
		}
	}
	return false
}

func UserDatabase(db string) bool { return db != "admin" && db != "config" && db != "local" }

// streamOptions are the cluster parameter changeStreamOptions.
type streamOptions struct {
	ExpireAfter atomic.Int64 // seconds that pre-images are kept; 0: as long as the log
}
