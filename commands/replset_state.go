package commands

import (
	"cmp"
	"encoding/binary"
	"errors"

	"github.com/duskdb/duskdb/index"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// What a member knows of its set is kept where mongod keeps it: the
// configuration, and the vote in the last election, which tells the term. Each
// election begins a new term, so that a primary can be told from the one
// before, which it may well have been itself: with each start of the server,
// and when the time is over for which it stepped down.
var (
	setConfigHome = storage.Namespace{DB: "local", Coll: "system.replset"}
	electionHome  = storage.Namespace{DB: "local", Coll: "replset.election"}
)

// firstTerm is the term of the first election.
const firstTerm = 1

// ownPart is the field of a stored configuration that is not mongod's.
const ownPart = "duskdb"

// electionID is the id of the election that began a term. Those of later terms
// are greater, by which clients tell an old primary from the present one.
func electionID(term int64) (id value.OID) {
	copy(id[:], []byte{0x7f, 0xff, 0xff, 0xff})
	binary.BigEndian.PutUint64(id[4:], uint64(term))
	return id
}

// loadTerm reads the term of the last election.
func (s *Service) loadTerm() error {
	s.leader.term.Store(firstTerm)
	return s.engine.View(s.background, func(tx storage.Tx) error {
		d, err := onlyDocument(tx, electionHome)
		if d != nil {
			s.leader.term.Store(d.Lookup("term").SafeInt64())
			s.leader.before = true
		}
		return err
	})
}

// joinSet makes the server the member of its set, as whose primary it begins.
func (s *Service) joinSet() error {
	if !s.inReplicaSet() {
		return nil
	}
	var stored value.Doc
	err := s.engine.View(s.background, func(tx storage.Tx) (err error) {
		stored, err = onlyDocument(tx, setConfigHome)
		return err
	})
	if err != nil {
		return err
	}
	config, err := s.storedConfig(stored)
	if err != nil {
		s.log.Warn().Err(err).Msg("The stored configuration of the replica set cannot be used; a new one takes its place")
	}
	l := &s.leader
	l.mu.Lock()
	defer l.mu.Unlock()
	l.config.Store(config)
	if l.before {
		l.term.Add(1)
	}
	l.before = true
	return s.takeOffice()
}

// storedConfig reads the stored configuration. There is a new one if there was
// none, or one of a set of another name.
func (s *Service) storedConfig(d value.Doc) (*setConfig, error) {
	fresh := newSetConfig(s.options.ReplSet, s.leader.term.Load(), value.NewOID(s.clock.NowMillis()))
	if d == nil {
		return fresh, nil
	}
	b, own := value.NewBuilder(), value.Doc(nil)
	for it := d.Iter(); it.Next(); {
		if it.Key() == ownPart {
			own = it.Value().Doc()
			continue
		}
		b.Raw(it.Element())
	}
	config, err := parseSetConfig(b.Doc(), fresh.settings.id)
	if err == nil {
		err = config.validate()
	}
	if err != nil || config.name != s.options.ReplSet || len(config.members) != 1 {
		return fresh, err
	}
	config.asConnected, config.initiated = own.Lookup("asConnected").Truthy(), own.Lookup("initiated").Truthy()
	return config, nil
}

// takeOffice begins the term as primary: it is noted with the configuration,
// and in the log. The caller holds the lock.
func (s *Service) takeOffice() error {
	s.metrics.elections.Add(1)
	l := &s.leader
	config := *l.config.Load()
	config.term = l.term.Load()
	entry := s.oplog.noop(value.NewDoc("msg", value.String("new primary")))
	l.elected.Store(stampOf(entry.Lookup("ts")))
	l.electedAt.Store(s.clock.NowMillis())
	l.config.Store(&config)
	return s.keepConfig(&config, entry)
}

// keepConfig stores a configuration with the term, and an entry in the log.
func (s *Service) keepConfig(config *setConfig, entry value.Doc) error {
	b := value.NewBuilder()
	config.append(b, cmp.Or(config.member().host, s.options.AdvertiseHost, "localhost:"+defaultPort))
	b.StartDocument(ownPart).Bool("asConnected", config.asConnected).Bool("initiated", config.initiated).End()
	now := s.clock.NowMillis()
	err := s.engine.Update(s.background, func(tx storage.Tx) error {
		if err := keepOnly(tx, setConfigHome, b.Doc(), now); err != nil {
			return err
		}
		vote := value.NewDoc("_id", value.String("lastVote"), "term", value.Int64(s.leader.term.Load()), "candidateIndex", value.Int64(0))
		if err := keepOnly(tx, electionHome, vote, now); err != nil || s.oplog.off {
			return err
		}
		coll, err := tx.Collection(oplogNS)
		if err == nil {
			_, err = coll.Insert(entry, now)
		}
		return err
	})
	s.changes.signal()
	return err
}

// onlyDocument is the document of a collection that has one; nil: it has none.
func onlyDocument(tx storage.Tx, ns storage.Namespace) (d value.Doc, err error) {
	coll, err := tx.Collection(ns)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	err = coll.Scan(storage.Range{Reverse: true}, func(r storage.Record) bool {
		d = r.Doc.Clone()
		return false
	})
	return d, err
}

// keepOnly makes a document the only one of a collection.
func keepOnly(tx storage.Tx, ns storage.Namespace, d value.Doc, now int64) error {
	coll, err := tx.Collection(ns)
	if errors.Is(err, storage.ErrNotFound) {
		coll, err = tx.Create(ns, value.EmptyDoc, []storage.IndexSpec{index.IDSpec(nil).Stored()})
	}
	if err != nil {
		return err
	}
	var old []storage.RecordID
	if err := coll.Scan(storage.Range{}, func(r storage.Record) bool { old = append(old, r.ID); return true }); err != nil {
		return err
	}
	for _, id := range old {
		if err := coll.Delete(id); err != nil {
			return err
		}
	}
	_, err = coll.Insert(d, now)
	return err
}
