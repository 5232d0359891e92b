//go:build unix

package crash

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
)

// met is what clients have met since it was asked for the last time.
type met struct {
	mu      sync.Mutex
	longest time.Duration  // the operation that took longest
	errors  map[string]int // how often each kind of error came
}

// note notes an operation.
func (m *met) note(took time.Duration, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.longest = max(m.longest, took)
	if err == nil {
		return
	}
	if m.errors == nil {
		m.errors = map[string]int{}
	}
	var command mongo.CommandError
	switch {
	case mongo.IsTimeout(err):
		m.errors["timeout"]++
	case mongo.IsNetworkError(err):
		m.errors["network error"]++
	case errors.As(err, &command):
		m.errors[fmt.Sprintf("%s (%d)", command.Name, command.Code)]++
	default:
		m.errors["other"]++
	}
}

// take returns what clients have met, and begins anew.
func (m *met) take() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	text := fmt.Sprintf("the longest operation took %v", m.longest.Round(10*time.Millisecond))
	var list []string
	for _, name := range slices.Sorted(maps.Keys(m.errors)) {
		list = append(list, fmt.Sprintf("%d %s", m.errors[name], name))
	}
	if len(list) > 0 {
		text += ", errors: " + strings.Join(list, ", ")
	}
	m.longest, m.errors = 0, nil
	return text
}
