package server

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

func TestSamplingIsOnWhileAsked(t *testing.T) {
	var switched []bool
	s := &sampling{set: func(on bool) { switched = append(switched, on) }}
	ask := func(h http.HandlerFunc) {
		s.during(h).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	}
	ask(func(http.ResponseWriter, *http.Request) {
		if !slices.Equal(switched, []bool{true}) {
			t.Errorf("switched %v", switched)
		}
		ask(func(http.ResponseWriter, *http.Request) {}) // another one meanwhile
		if !slices.Equal(switched, []bool{true}) {
			t.Errorf("switched %v", switched)
		}
	})
	if !slices.Equal(switched, []bool{true, false}) {
		t.Errorf("switched %v", switched)
	}
}

func TestProfilesOverHTTP(t *testing.T) {
	s := serveConfig(t, Config{MetricsPort: -1, MetricsPprof: true})
	for path, want := range map[string]string{
		"/debug/pprof/":              "goroutine",
		"/debug/pprof/block?debug=1": "--- contention",
		"/debug/pprof/mutex?debug=1": "--- mutex",
	} {
		if code, body := get(t, s, path); code != 200 || !strings.Contains(body, want) {
			t.Errorf("%s: %d %.100q", path, code, body)
		}
	}
	// The command line may have the password of a key in it.
	if code, body := get(t, s, "/debug/pprof/cmdline"); code != 404 {
		t.Errorf("the command line is served: %d %q", code, body)
	}
}
