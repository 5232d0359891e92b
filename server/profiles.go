package server

import (
	"net/http"
	"net/http/pprof"
	"runtime"
	"sync"
)

// handleProfiles serves the profiles of the process, but not its command line,
// which may contain a password.
func handleProfiles(mux *http.ServeMux) {
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	mux.Handle("/debug/pprof/block", blockSampling.during(pprof.Handler("block")))
	mux.Handle("/debug/pprof/mutex", mutexSampling.during(pprof.Handler("mutex")))
}

// sampling is a profile that the runtime records only while it is switched on,
// because recording takes time.
type sampling struct {
	set func(on bool)

	mu    sync.Mutex
	users int
}

// The sampling rates: one wait per blockEvery nanoseconds of waiting, and one
// of mutexEvery contended unlocks.
const (
	blockEvery = 10_000
	mutexEvery = 10
)

var (
	blockSampling = &sampling{set: func(on bool) { runtime.SetBlockProfileRate(rate(on, blockEvery)) }}
	mutexSampling = &sampling{set: func(on bool) { runtime.SetMutexProfileFraction(rate(on, mutexEvery)) }}
)

func rate(on bool, r int) int {
	if on {
		return r
	}
	return 0
}

// during switches sampling on while h runs: with ?seconds=n, the profile
// covers these seconds.
func (s *sampling) during(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.use(1)
		defer s.use(-1)
		h.ServeHTTP(w, r)
	})
}

func (s *sampling) use(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.users
	s.users += n
	if (before == 0) != (s.users == 0) {
		s.set(s.users > 0)
	}
}
