package commands

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duskdb/duskdb/index"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// settings are what administrators decide for all clients: defaults for
// their commands, cluster parameters, a stop of all writes, index filters.
// Those that mongod keeps in the database config are kept there, under its
// names, and read at the start.
type settings struct {
	blocked atomic.Bool  // setUserWriteBlockMode
	readMS  atomic.Int64 // defaultMaxTimeMS.readOperations

	mu      sync.Mutex
	concern value.Doc            // of setDefaultRWConcern, as stored; nil: none
	write   value.Doc            // its defaultWriteConcern
	cluster map[string]value.Doc // cluster parameters that were set
	filters indexFilters
	queries querySettings
}

// Where settings are kept.
var (
	concernHome = storage.Namespace{DB: "config", Coll: "settings"}
	clusterHome = storage.Namespace{DB: "config", Coll: "clusterParameters"}
)

// concernID is the _id of the default concerns, as in mongod.
const concernID = "ReadWriteConcernDefaults"

// load reads what was kept.
func (s *settings) load(tx storage.Tx) error {
	s.cluster = map[string]value.Doc{}
	d, err := storedSetting(tx, concernHome, concernID)
	if err != nil {
		return err
	}
	if d != nil {
		s.setConcern(d)
	}
	if d, err = storedSetting(tx, clusterHome, querySettingsID); err != nil {
		return err
	}
	s.queries.load(d)
	for name := range clusterParameters {
		if d, err = storedSetting(tx, clusterHome, name); err != nil {
			return err
		}
		if d != nil {
			s.cluster[name] = d
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
	r, ok, err := coll.Find(idIndex, value.AppendKey(nil, value.String(id)))
	if err != nil || !ok {
		return nil, err
	}
	return r.Doc, nil
}

// keep stores a setting, in the place of the one with the same _id.
func (c *Call) keep(ns storage.Namespace, d value.Doc) error {
	err := c.update(func(tx storage.Tx) error {
		coll, err := tx.Collection(ns)
		if errors.Is(err, storage.ErrNotFound) {
			coll, err = tx.Create(ns, value.EmptyDoc, []storage.IndexSpec{index.IDSpec(nil).Stored()})
		}
		if err != nil {
			return err
		}
		r, ok, err := coll.Find(idIndex, value.AppendKey(nil, d.Lookup("_id")))
		if err != nil {
			return err
		}
		w := c.newWriter(tx, coll, true)
		if ok {
			return w.replace(r, d)
		}
		_, err = w.insert(d)
		return err
	})
	return translate(ns, err)
}

func (s *settings) setConcern(d value.Doc) {
	s.concern, s.write = d, d.Lookup("defaultWriteConcern").Doc()
}

// loadSettings reads the settings, and has them take effect. Without them the
// server does not start: it would forget what administrators decided.
func (s *Service) loadSettings() error {
	if err := s.engine.View(s.background, s.settings.load); err != nil {
		return fmt.Errorf("read the settings of the cluster: %w", err)
	}
	for name, p := range clusterParameters {
		if d := s.settings.cluster[name]; d != nil && p.apply != nil {
			p.apply(s, d)
		}
	}
	return nil
}

// settled returns the settings.
func (s *Service) settled() *settings { return &s.settings }

// applySettings has the settings take effect on a command.
func (s *Service) applySettings(c *Call) error {
	st := s.settled()
	if st.blocked.Load() && c.isUserWrite() && !c.mayBypassWriteBlock() {
		return errWritesBlocked
	}
	if c.cmd.flags&writes != 0 && c.generic.writeConcern == nil && c.generic.autocommit == nil {
		st.mu.Lock()
		write := st.write
		st.mu.Unlock()
		if write != nil {
			if err := c.generic.readWriteConcern(value.Document(write)); err != nil {
				return err
			}
		}
	}
	if ms := st.readMS.Load(); ms > 0 && c.generic.maxTime == 0 && timedReads[c.cmd.name] {
		c.generic.maxTime = time.Duration(ms) * time.Millisecond
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
	if c.cmd.name == "aggregate" {
		return writesOut(c.Body.Lookup("pipeline").Doc()) && userDatabase(c.DB)
	}
	if !userWrites[c.cmd.name] {
		return false
	}
	switch c.cmd.name {
	case "renameCollection":
		return userDatabase(splitNamespace(c.Body.Lookup("renameCollection").Str()).DB)
	case "bulkWrite":
		for d := range c.statements("nsInfo") {
			if userDatabase(splitNamespace(d.Lookup("ns").Str()).DB) {
				return true
			}
		}
		return false
	case "applyOps":
		return true
	}
	return userDatabase(c.DB)
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

func userDatabase(db string) bool { return db != "admin" && db != "config" && db != "local" }
