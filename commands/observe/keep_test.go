package observe_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/duskdb/duskdb/commands/observe"
)

// Many settings of databases that do not exist are removed in one step, and the others stay.
func TestKeepRemovesManyAtOnce(t *testing.T) {
	p := observe.NewProfiler(nil)
	const absent = 3000
	for i := range absent {
		p.Set(fmt.Sprintf("absent%d", i), observe.ProfileSetting{Level: 2})
	}
	p.Set("present", observe.ProfileSetting{Level: 2})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	p.Keep(func(db string) bool { return db == "present" })
	runtime.ReadMemStats(&after)
	if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 10<<20 { // each copy of the map is 0.2 MB
		t.Errorf("it allocates %d bytes", bytes)
	}
	if p.Of("present").Level != 2 {
		t.Error("the setting of a database that exists is lost")
	}
	left := 0
	for i := range absent {
		left += int(p.Of(fmt.Sprintf("absent%d", i)).Level) / 2
	}
	if left >= 1000 {
		t.Errorf("%d settings are left", left)
	}
}
