package server

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"
)

// lines is a log, line by line.
type lines chan map[string]any

func (l lines) Write(b []byte) (int, error) {
	line := map[string]any{}
	if err := json.Unmarshal(b, &line); err != nil {
		return 0, err
	}
	l <- line
	return len(b), nil
}

// next skips to the line with a message.
func (l lines) next(message string) map[string]any {
	for line := range l {
		if line["message"] == message {
			return line
		}
	}
	return nil
}

// TestOpening: the start of the server is logged first, and while the data are
// opened, monitoring systems learn that the server lives and is not ready.
func TestOpening(t *testing.T) {
	log, opened := make(lines, 100), make(chan struct{})
	var once sync.Once
	cfg := Config{
		DBPath: t.TempDir(), MetricsPort: -1, MemoryLimit: "512MB", Version: "1.2.3", Log: zerolog.New(log),
		fault: func(step, _ string) error {
			if step == "open" {
				once.Do(func() { <-opened })
			}
			return nil
		},
	}
	done := make(chan *Server)
	go func() {
		s, err := New(cfg)
		if err != nil {
			t.Error(err)
		}
		done <- s
	}()
	start := <-log
	for name, want := range map[string]any{"message": "DuskDB starting", "version": "1.2.3", "pid": float64(os.Getpid()), "dbpath": cfg.DBPath, "memoryLimitMB": 512.0} {
		if start[name] != want {
			t.Errorf("%s is %v, want %v", name, start[name], want)
		}
	}
	base := "http://" + log.next("Serving metrics")["address"].(string)
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 503, "/metrics": 200} {
		code, text := fetch(t, base+path)
		if code != want {
			t.Errorf("%s answers %d, %s", path, code, text)
		}
		if path == "/metrics" && (!strings.Contains(text, "\nduskdb_ready 0\n") || !strings.Contains(text, "\nduskdb_opening_ratio 0\n") || strings.Contains(text, "duskdb_connections")) {
			t.Errorf("metrics while the data are opened: %s", text)
		}
	}
	close(opened)
	s := <-done
	if s == nil {
		return
	}
	t.Cleanup(func() { _ = s.Close(t.Context()) })
	log.next("Data opened")
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	if code, text := fetch(t, base+"/readyz"); code != 200 {
		t.Errorf("started: %d, %s", code, text)
	}
}

// fetch gets a page.
func fetch(t *testing.T, url string) (int, string) {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, strings.TrimSpace(string(text))
}
