package parameters

import (
	"fmt"

	"github.com/duskdb/duskdb/commands/kernel"
)

// CheckSettings reads the settings for the first time. A server that cannot
// read them does not start, as it would not do what administrators decided.
func CheckSettings(s *kernel.Service) error {
	_, err := s.DefaultConcerns()
	if err == nil {
		_, err = s.ClusterSettings()
	}
	if err != nil {
		return fmt.Errorf("read the settings of the cluster: %w", err)
	}
	return nil
}
