package main

import (
	"strings"
	"testing"
	"time"

	"github.com/duskdb/duskdb/clock"
)

func TestProgress(t *testing.T) {
	now := clock.NewManual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	var out strings.Builder
	p := startProgress(&out, now, 4_000_000, true)
	if _, err := p.Write(make([]byte, 1_000_000)); err != nil {
		t.Fatal(err)
	}
	p.add(1) // too soon to be drawn
	now.Advance(2 * time.Second)
	p.add(999_999)
	p.end()
	want := "\r 25% |██████████                              | 1.0 MB of 4.0 MB, 10.0 MB/s\x1b[K" +
		strings.Repeat("\r 50% |████████████████████                    | 2.0 MB of 4.0 MB, 1.0 MB/s\x1b[K", 2) + "\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	p = startProgress(&out, now, -1, false)
	p.count(30)
	now.Advance(3 * time.Second)
	if p.count(60); p.String() != "60, 20/s" {
		t.Errorf("%q", p)
	}
	p = &progress{} // nobody sees it
	p.count(5)
	p.end()
}
