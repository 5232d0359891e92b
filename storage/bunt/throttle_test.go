package bunt

import (
	"testing"
	"time"
)

// Writes within the room owe no time; later ones owe the time that their bytes take at
// the rate of the throttle.
func TestBrake(t *testing.T) {
	b := throttle{room: 2 * throttleRate / 1000}
	for i, want := range []time.Duration{0, 0, time.Millisecond, 2 * time.Millisecond} {
		if b.wrote(throttleRate / 1000); b.owed.Round(10*time.Microsecond) != want {
			t.Errorf("after %d ms at that rate, %s are owed, want %s", i+1, b.owed, want)
		}
	}
	if b.rest(); b.owed != 0 {
		t.Errorf("%s are owed after a rest", b.owed)
	}
}
