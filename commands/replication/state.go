package replication

import (
	"cmp"

	"github.com/duskdb/duskdb/commands/kernel"
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
	s.FollowSetConfig(replset.NewConfig(s.Options.ReplSet, s.Leader.Term.Load(), value.NewOID(s.Clock.NowMillis())))
	l := &s.Leader
	l.Mu.Lock()
	defer l.Mu.Unlock()
	if l.HadElection {
		l.Term.Add(1)
	}
	l.HadElection = true
	return takeOffice(s)
}

// takeOffice begins the term as primary. It stores the term with the configuration, and adds
// an entry to the log. The caller holds the lock.
func takeOffice(s *kernel.Service) error {
	s.Metrics.Elections.Add(1)
	l := &s.Leader
	l.ElectedAt.Store(s.Clock.NowMillis())
	present, err := s.SetConfig(s.Background)
	if err != nil {
		return err
	}
	config := *present
	config.Term = l.Term.Load()
	at, err := keepConfig(s, &config, value.NewDoc("msg", value.String("new primary")))
	if err == nil {
		l.Elected.Store(at)
	}
	return err
}

// keepConfig stores a configuration with the term, and a note in the log. It returns the
// timestamp.
func keepConfig(s *kernel.Service, config *replset.Config, note value.Doc) (at uint64, err error) {
	stored := config.Stored(cmp.Or(config.Member().Host, s.Options.AdvertiseHost, "localhost:"+replset.DefaultPort))
	now := s.Clock.NowMillis()
	err = storage.Retry(s.Background, s.Engine, func(tx storage.Tx) error {
		if err := serverdocs.PutOnly(tx, replset.ConfigNamespace, stored, now); err != nil {
			return err
		}
		vote := value.NewDoc("_id", value.String("lastVote"), "term", value.Int64(s.Leader.Term.Load()), "candidateIndex", value.Int64(0))
		if err := serverdocs.PutOnly(tx, replset.ElectionNamespace, vote, now); err != nil {
			return err
		}
		if s.Oplog.Off {
			at, err = s.Stamps.Commit(tx, now)
		} else {
			at, err = s.Oplog.AddNoop(tx, note)
		}
		return err
	})
	s.Changes.Signal()
	return at, err
}
