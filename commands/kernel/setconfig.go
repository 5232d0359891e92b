package kernel

import (
	"context"

	"github.com/duskdb/duskdb/commands/replset"
	"github.com/duskdb/duskdb/storage/serverdocs"
	"github.com/duskdb/duskdb/value"
)

// FollowSetConfig makes the stored configuration of the replica set the one in force, from
// now on and after each change of it. first is in force until one is stored.
func (s *Service) FollowSetConfig(first *replset.Config) {
	cache := replset.NewConfigCache(first, s.Options.ReplSet)
	s.config = serverdocs.NewCache(replset.ConfigNamespace, func(docs []value.Doc) *replset.Config {
		config, err := cache.Read(docs)
		if err != nil {
			s.Log.Warn().Err(err).Msg("The stored configuration of the replica set cannot be used; the one before stays in force")
		}
		return config
	})
}

// SetConfig returns the present configuration of the replica set, nil without a set. It
// returns an error if it cannot read it.
func (s *Service) SetConfig(ctx context.Context) (*replset.Config, error) {
	if s.config == nil {
		return nil, nil
	}
	return read(ctx, s, replset.ConfigNamespace, s.config)
}

// SetConfig returns the present configuration of the replica set, nil without a set. Reading
// it takes no longer than the command may.
func (c *Call) SetConfig() (*replset.Config, error) {
	if c.Svc.config == nil {
		return nil, nil
	}
	return inTime(c, replset.ConfigNamespace, c.Svc.config)
}
