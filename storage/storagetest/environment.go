package storagetest

import (
	"fmt"
	"os"
	"runtime"
	"strconv"

	"github.com/duskdb/duskdb/storage"
)

// HostileEnv is the environment variable that makes suites run over an engine
// that behaves as badly as its contract allows. Its value is the seed.
const HostileEnv = "DUSKDB_TEST_HOSTILE"

// HostileByEnvironment returns a function that makes an engine hostile, as
// [HostileEnv] asks for it; nil if it does not. It panics if the value is no seed.
func HostileByEnvironment() func(storage.Engine) storage.Engine {
	text := os.Getenv(HostileEnv)
	if text == "" {
		return nil
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		panic(fmt.Sprintf("%s is %q, not a seed", HostileEnv, text))
	}
	return func(e storage.Engine) storage.Engine { return Hostile(e, Unseen(seed)) }
}

// Unseen is what no reply to a client must show: gaps between ids, functions of
// updates and views that run again, conflicts, catalogs that change, goroutines that are
// held up.
func Unseen(seed uint64) Hostility {
	return Hostility{Seed: seed, Gaps: true, Reruns: true, Views: true, Conflicts: true, Catalog: true, Delay: runtime.Gosched}
}
