package needs

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// judge notes how a test would end.
type judge struct {
	testing.TB
	verdict string
}

func (j *judge) Helper() {}

func (j *judge) Skip(args ...any) { j.verdict = "skip: " + fmt.Sprint(args...) }

func (j *judge) Skipf(format string, args ...any) {
	j.verdict = "skip: " + fmt.Sprintf(format, args...)
}

func (j *judge) Fatalf(format string, args ...any) {
	j.verdict = "fail: " + fmt.Sprintf(format, args...)
}

func TestProgram(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"here", "also"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	tests := []struct {
		ci, without string
		programs    []string
		want        string
	}{
		{"", "", []string{"here", "also"}, ""},
		{"true", "", []string{"here", "also"}, ""},
		{"true", "here", []string{"here"}, ""},
		{"", "", []string{"here", "fish"}, "skip: fish is missing"},
		{"false", "", []string{"fish"}, "skip: fish is missing"},
		{"true", "", []string{"here", "fish"}, "fail: fish is missing, and CI requires it"},
		{"true", "zsh fish", []string{"fish"}, "skip: fish is missing, as DUSKDB_CI_WITHOUT says"},
		{"true", "zsh fisher", []string{"fish"}, "fail: fish is missing, and CI requires it"},
		{"true", "zsh", []string{"zsh", "fish"}, "skip: zsh is missing, as DUSKDB_CI_WITHOUT says"},
	}
	for _, tt := range tests {
		t.Setenv("CI", tt.ci)
		t.Setenv("DUSKDB_CI_WITHOUT", tt.without)
		j := &judge{TB: t}
		if Program(j, tt.programs...); j.verdict != tt.want {
			t.Errorf("CI=%q without %q, %v: %q, want %q", tt.ci, tt.without, tt.programs, j.verdict, tt.want)
		}
	}
}

func TestClient(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("CI", "true")
	t.Setenv("DUSKDB_CI_WITHOUT", "")
	for wanted, want := range map[string]string{
		"":  "skip: a test with a client of another language: runs with DUSKDB_CLIENTS=1",
		"1": "fail: node is missing, and CI requires it",
	} {
		t.Setenv("DUSKDB_CLIENTS", wanted)
		j := &judge{TB: t}
		if Client(j, "node"); j.verdict != want {
			t.Errorf("DUSKDB_CLIENTS=%q: %q, want %q", wanted, j.verdict, want)
		}
	}
}

func TestCache(t *testing.T) {
	t.Setenv("DUSKDB_COMPAT_CACHE", "/some/where")
	if got := Cache(t); got != "/some/where" {
		t.Error(got)
	}
	t.Setenv("DUSKDB_COMPAT_CACHE", "")
	if got := Cache(t); filepath.Base(got) != "duskdb-compat" {
		t.Error(got)
	}
}
