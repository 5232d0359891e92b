package server

import (
	"context"
	"testing"
	"time"

	"github.com/duskdb/duskdb/clock"
)

// The flag and the parameter switch the test clock on; a start needs either.
func TestReadTestClock(t *testing.T) {
	start := time.Date(2020, 2, 3, 4, 5, 6, 0, time.UTC)
	for _, tt := range []struct {
		name       string
		flag       bool
		parameters map[string]string
		manual, ok bool
	}{
		{"nothing", false, nil, false, true},
		{"flag", true, nil, true, true},
		{"parameter", false, map[string]string{"enableTestClock": "true"}, true, true},
		{"parameter off", false, map[string]string{"enableTestClock": "false"}, false, true},
		{"no bool", false, map[string]string{"enableTestClock": "maybe"}, false, false},
		{"start alone", false, map[string]string{"testClockStart": start.Format(time.RFC3339)}, false, false},
		{"start", false, map[string]string{"testClockStart": start.Format(time.RFC3339), "enableTestClock": "1"}, true, true},
		{"no date", true, map[string]string{"testClockStart": "yesterday"}, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := New(Config{TestClock: tt.flag, Parameters: tt.parameters})
			if err != nil {
				if tt.ok {
					t.Fatal(err)
				}
				return
			}
			defer func() { _ = s.Close(context.Background()) }()
			if !tt.ok {
				t.Fatal("accepted")
			}
			m, manual := s.Clock().(*clock.Manual)
			if manual != tt.manual {
				t.Fatalf("manual clock: %v", manual)
			}
			if tt.parameters["testClockStart"] != "" && (!m.Now().Equal(start) || !m.Frozen()) {
				t.Errorf("the clock shows %s, frozen: %v", m.Now(), m.Frozen())
			}
		})
	}
}
