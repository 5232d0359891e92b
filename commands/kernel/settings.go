package kernel

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

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
	readMS  atomic.Int64 // defaultMaxTimeMS.readOperations

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

// Load reads what was kept.
func (s *Settings) Load(tx storage.Tx) error {
	s.Cluster = map[string]value.Doc{}
	d, err := storedSetting(tx, ConcernNamespace, ConcernID)
	if err != nil {
		return err
	}
	if d != nil {
		s.SetConcern(d)
	}
	if d, err = storedSetting(tx, ClusterNamespace, QuerySettingsID); err != nil {
		return err
	}
	s.Queries.load(d)
	for name := range ClusterParameters {
		if d, err = storedSetting(tx, ClusterNamespace, name); err != nil {
			return err
		}
		if d != nil {
			s.Cluster[name] = d
		}
	}
	return nil
}

// storedSetting reads a document by its _id; nil: there is none.
func storedSetting(tx storage.Tx, ns storage.Namespace, id string) (value.Doc, error) {
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

// LoadSettings reads the settings, and has them take effect. Without them the
// server does not start: it would forget what administrators decided.
func (s *Service) LoadSettings() error {
	if err := s.Engine.View(s.Background, s.Settings.Load); err != nil {
		return fmt.Errorf("read the settings of the cluster: %w", err)
	}
	for name, p := range ClusterParameters {
		if d := s.Settings.Cluster[name]; d != nil && p.Apply != nil {
			p.Apply(s, d)
		}
	}
	return nil
}

// Settled returns the settings.
func (s *Service) Settled() *Settings { return &s.Settings }

// ApplySettings has the settings take effect on a command.
func (s *Service) ApplySettings(c *Call) error {
	st := s.Settled()
	if st.Blocked.Load() && c.isUserWrite() && !c.mayBypassWriteBlock() {
		return errWritesBlocked
	}
	if c.Cmd.Flags&Writes != 0 && c.Generic.WriteConcern == nil && c.Generic.Autocommit == nil {
		st.Mu.Lock()
		write := st.Write
		st.Mu.Unlock()
		if write != nil {
			if err := c.Generic.ReadWriteConcern(value.Document(write)); err != nil {
				return err
			}
		}
	}
	if ms := st.readMS.Load(); ms > 0 && c.Generic.MaxTime == 0 && timedReads[c.Cmd.Name] {
		c.Generic.MaxTime = time.Duration(ms) * time.Millisecond
	}
	return nil
}

// timedReads are the commands that defaultMaxTimeMS.readOperations limits.
var timedReads = map[string]bool{"find": true, "aggregate": true, "count": true, "distinct": true, "dbHash": true}

var errWritesBlocked = mongoerr.New(mongoerr.UserWritesBlocked, "User writes blocked")

// userWrites are the commands that setUserWriteBlockMode stops.
var userWrites = map[string]bool{
	"insert": true, "update": true, "delete": true, "findAndModify": true, "bulkWrite": true, "create": true, "drop": true,
	"dropDatabase": true, "renameCollection": true, "collMod": true, "createIndexes": true, "dropIndexes": true,
	"convertToCapped": true, "cloneCollectionAsCapped": true, "applyOps": true, "mqSend": true,
}

// isUserWrite tells whether a command writes outside the databases that are
// the server's own.
func (c *Call) isUserWrite() bool {
	if c.Cmd.Name == "aggregate" {
		return writesOut(c.Body.Lookup("pipeline").Doc()) && UserDatabase(c.DB)
	}
	if !userWrites[c.Cmd.Name] {
		return false
	}
	switch c.Cmd.Name {
	case "renameCollection":
		return UserDatabase(SplitNamespace(c.Body.Lookup("renameCollection").Str()).DB)
	case "bulkWrite":
		for d := range c.Statements("nsInfo") {
			if UserDatabase(SplitNamespace(d.Lookup("ns").Str()).DB) {
				return true
			}
		}
		return false
	case "applyOps":
		return true
	}
	return UserDatabase(c.DB)
}

// writesOut tells whether a pipeline ends in $out or $merge.
func writesOut(pipeline value.Doc) bool {
	for stage := range pipeline.Values() {
		if name, _ := stage.Doc().First(); name == "$out" || name == "$merge" {
			return true
		}
	}
	return false
}

func UserDatabase(db string) bool { return db != "admin" && db != "config" && db != "local" }
