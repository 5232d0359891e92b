package parameters

import (
	"fmt"
	"maps"
	"slices"

	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// Load reads what was kept.
func Load(s *kernel.Settings, tx storage.Tx) error {
	s.Cluster = map[string]value.Doc{}
	d, err := kernel.StoredSetting(tx, kernel.ConcernNamespace, kernel.ConcernID)
	if err != nil {
		return err
	}
	if d != nil {
		s.SetConcern(d)
	}
	if d, err = kernel.StoredSetting(tx, kernel.ClusterNamespace, kernel.QuerySettingsID); err != nil {
		return err
	}
	s.Queries.Load(d)
	for _, name := range slices.Sorted(maps.Keys(ClusterParameters)) {
		if d, err = kernel.StoredSetting(tx, kernel.ClusterNamespace, name); err != nil {
			return err
		}
		if d != nil {
			s.Cluster[name] = d
		}
	}
	return nil
}

// LoadSettings reads the settings, and has them take effect. Without them the
// server does not start: it would forget what administrators decided.
func LoadSettings(s *kernel.Service) error {
	if err := s.Engine.View(s.Background, func(tx storage.Tx) error { return Load(&s.Settings, tx) }); err != nil {
		return fmt.Errorf("read the settings of the cluster: %w", err)
	}
	for name, p := range ClusterParameters {
		if d := s.Settings.Cluster[name]; d != nil && p.Apply != nil {
			p.Apply(s, d)
		}
	}
	return nil
}
