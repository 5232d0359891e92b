package replication

import (
	"cmp"

	"github.com/duskdb/duskdb/commands/clustertime"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/oplog"
	"github.com/duskdb/duskdb/commands/replset"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/serverdocs"
	"github.com/duskdb/duskdb/value"
)

// LoadTerm reads the term of the last election.
func LoadTerm(s *kernel.Service) error {
	s.Leader.Term.Store(replset.FirstTerm)
	return s.Engine.View(s.Background, func(tx storage.Tx) error {
		d, err := serverdocs.Only(tx, replset.ElectionNamespace)
		if d != nil {
			s.Leader.Term.Store(d.Lookup("term").SafeInt64())
			s.Leader.HadElection = true
		}
		return err
	})
}

// JoinSet makes the server the member of its set. It starts as the primary.
func JoinSet(s *kernel.Service) error {
	if !s.InReplicaSet() {
		return nil
	}
	var stored value.Doc
	err := s.Engine.View(s.Background, func(tx storage.Tx) (err error) {
		stored, err = serverdocs.Only(tx, replset.ConfigNamespace)
		return err
	})
	if err != nil {
		return err
	}
	config, err := storedConfig(s, stored)
	if err != nil {
		s.Log.Warn().Err(err).Msg("The stored configuration of the replica set cannot be used; the server replaces it by a new one")
	}
	l := &s.Leader
	l.Mu.Lock()
	defer l.Mu.Unlock()
	l.Config.Store(config)
	if l.HadElection {
		l.Term.Add(1)
	}
	l.HadElection = true
	return takeOffice(s)
}

// storedConfig reads the stored configuration. It returns a new one if none is stored, or if
// the stored one is of a set with another name.
func storedConfig(s *kernel.Service, d value.Doc) (*replset.Config, error) {
	fresh := replset.NewConfig(s.Options.ReplSet, s.Leader.Term.Load(), value.NewOID(s.Clock.NowMillis()))
	if d == nil {
		return fresh, nil
	}
	b, own := value.NewBuilder(), value.Doc(nil)
	for it := d.Iter(); it.Next(); {
		if it.Key() == replset.OwnField {
			own = it.Value().Doc()
			continue
		}
		b.Raw(it.Element())
	}
	config, err := replset.ParseConfig(b.Doc(), fresh.Settings.ID)
	if err == nil {
		err = config.Validate()
	}
	if err != nil || config.Name != s.Options.ReplSet || len(config.Members) != 1 {
		return fresh, err
	}
	config.AsConnected, config.Initiated = own.Lookup("asConnected").Truthy(), own.Lookup("initiated").Truthy()
	return config, nil
}

// takeOffice begins the term as primary. It stores the term with the configuration, and adds
// an entry to the log. The caller holds the lock.
func takeOffice(s *kernel.Service) error {
	s.Metrics.Elections.Add(1)
	l := &s.Leader
	config := *l.Config.Load()
	config.Term = l.Term.Load()
	entry := s.Oplog.Noop(value.NewDoc("msg", value.String("new primary")))
	l.Elected.Store(clustertime.Of(entry.Lookup("ts")))
	l.ElectedAt.Store(s.Clock.NowMillis())
	l.Config.Store(&config)
	return keepConfig(s, &config, entry)
}

// keepConfig stores a configuration with the term, and an entry in the log.
func keepConfig(s *kernel.Service, config *replset.Config, entry value.Doc) error {
	b := value.NewBuilder()
	config.Append(b, cmp.Or(config.Member().Host, s.Options.AdvertiseHost, "localhost:"+replset.DefaultPort))
	b.StartDocument(replset.OwnField).Bool("asConnected", config.AsConnected).Bool("initiated", config.Initiated).End()
	stored := b.Doc()
	now := s.Clock.NowMillis()
	err := storage.Retry(s.Background, s.Engine, func(tx storage.Tx) error {
		if err := serverdocs.PutOnly(tx, replset.ConfigNamespace, stored, now); err != nil {
			return err
		}
		vote := value.NewDoc("_id", value.String("lastVote"), "term", value.Int64(s.Leader.Term.Load()), "candidateIndex", value.Int64(0))
		if err := serverdocs.PutOnly(tx, replset.ElectionNamespace, vote, now); err != nil || s.Oplog.Off {
			return err
		}
		coll, err := tx.Collection(oplog.Namespace)
		if err == nil {
			_, err = coll.Insert(entry, now)
		}
		return err
	})
	s.Changes.Signal()
	return err
}
