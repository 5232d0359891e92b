package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/duskdb/duskdb/servertest"
)

func TestExpiry(t *testing.T) {
	srv := servertest.Run(t)
	c := expiryCommand{URI: srv.URI(), Docs: 300, DocSize: 180, Limit: time.Minute, JSON: filepath.Join(t.TempDir(), "out.json")}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	done := make(chan error, 1)
	go func() { done <- c.Run(&out) }()
	for waiting := true; waiting; {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			waiting = false
		default:
			srv.Advance(time.Second) // of the monitor
		}
	}
	var r expiryResult
	readJSON(t, c.JSON, &r)
	if r.Docs != 300 || r.Seconds < 0 || r.MaxMB < r.MinMB || r.MaxMB == 0 || !strings.HasPrefix(out.String(), "300 documents were removed in ") {
		t.Errorf("got %+v\n%s", r, out.String())
	}
}

// A server that removes nothing fails the measurement.
func TestExpiryThatDoesNotEnd(t *testing.T) {
	c := expiryCommand{URI: nullTarget(t).addr, Docs: 10, DocSize: 180, Limit: time.Millisecond}
	var out strings.Builder
	if err := c.Run(&out); err == nil || !strings.Contains(err.Error(), "0 of 10 documents") {
		t.Errorf("got %v\n%s", err, out.String())
	}
	for _, bad := range []expiryCommand{{Docs: 0, DocSize: 1, Limit: 1}, {Docs: 1, DocSize: 1}} {
		if bad.Validate() == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}
