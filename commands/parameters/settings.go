package parameters

import (
	"fmt"

	"github.com/duskdb/duskdb/commands/kernel"
)

// CheckSettings reads the stored settings at the start. If they cannot be read, the server
// does not start, since it would ignore what administrators have set.
func CheckSettings(s *kernel.Service) error {
	_, err := s.DefaultConcerns(s.Background)
	if err == nil {
		_, err = s.ClusterSettings(s.Background)
	}
	if err != nil {
		return fmt.Errorf("read the settings of the cluster: %w", err)
	}
	return nil
}
