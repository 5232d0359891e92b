package commands

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/duskdb/duskdb/commands/cluster"
	"github.com/duskdb/duskdb/commands/crud"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/parameters"
	"github.com/duskdb/duskdb/commands/pipeline"
	"github.com/duskdb/duskdb/commands/replication"
	"github.com/duskdb/duskdb/commands/transaction"
	"github.com/duskdb/duskdb/commands/users"
	"github.com/duskdb/duskdb/commands/write"
	"github.com/duskdb/duskdb/queue"
)

// newService makes a Service over an open engine.
func newService(o kernel.Options) (*kernel.Service, error) {
	if o.TempDir == "" {
		o.TempDir = os.TempDir()
	}
	s := kernel.NewService(o)
	if s.Shared && o.ReplSet != "" {
		return nil, errors.New("--replSet: servers that share their data are not a replica set; clients see a sharded cluster")
	}
	if err := o.Profiling.Check(); err != nil {
		return nil, err
	}
	s.Params = parameters.New(s)
	if err := s.Params.Load(o.Parameters); err != nil {
		return nil, err
	}
	if err := s.OpenClock(s.Background); err != nil {
		return nil, err
	}
	s.Monitor = write.NewMonitor(s)
	s.Monitor.Metrics().CountCollections(int(s.Params.Int("metricsMaxCollections")))
	s.Queues = queue.NewBroker(s.Clock, s.Real, s.Monitor.Metrics())
	s.Queues.Shared = s.Shared
	buildTable(s)
	if err := users.Open(s); err != nil {
		return nil, err
	}
	if err := replication.LoadTerm(s); err != nil {
		return nil, err
	}
	if err := transaction.OpenLog(s); err != nil {
		return nil, err
	}
	if err := replication.JoinSet(s); err != nil {
		return nil, err
	}
	if err := kernel.KeepFeatureVersion(s); err != nil {
		return nil, err
	}
	if err := cluster.KeepIdentity(s); err != nil {
		return nil, err
	}
	if err := crud.FollowKills(s); err != nil {
		return nil, err
	}
	if err := parameters.CheckSettings(s); err != nil {
		return nil, err
	}
	return s, clearLeftOvers(s)
}

// clearLeftOvers clears up after commands that a crash has ended. What a command of another
// server still uses stays.
func clearLeftOvers(s *kernel.Service) error {
	if err := pipeline.DropLeftOvers(s); err != nil {
		return err
	}
	return write.ReopenPolicies(s)
}

// clearEvery is how often a server clears up after others that have ended.
const clearEvery = 5 * time.Minute

// clearAfterOthers clears up after other servers, until ctx ends.
func clearAfterOthers(s *kernel.Service, ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.Real.After(clearEvery):
		}
		if err := clearLeftOvers(s); err != nil && ctx.Err() == nil {
			s.Log.Warn().Err(err).Msg("Could not clean up after a server that has stopped")
		}
	}
}
