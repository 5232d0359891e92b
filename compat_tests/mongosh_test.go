package compat

import (
	"testing"

	"github.com/duskdb/duskdb/internal/needs"
)

// TestInstallShell puts the shell into the cache, also for the tests of the
// documentation.
func TestInstallShell(t *testing.T) {
	needs.Client(t, "node", "npm")
	nodeClients.path(t)
}

func TestMongoshEveryday(t *testing.T) {
	t.Parallel()
	s := start(t)
	mongosh(t, s.URI, "everyday.js").reports(t)
}

func TestMongoshAdministration(t *testing.T) {
	t.Parallel()
	s := start(t)
	mongosh(t, s.URI, "administration.js").reports(t)
}

// A year of hourly weather; the server is killed once it is loaded.
func TestMongoshWeather24h(t *testing.T) {
	t.Parallel()
	s := start(t, clockAt("2010-01-01T00:00:00Z")...)
	mongosh(t, s.URI, "weather24h.js", "PHASE=load").reports(t)
	// Everything is on disk once a majority write has been acknowledged.
	syncJournal(t, s.URI)
	s = s.restart(t, true, clockAt("2010-01-15T00:00:00Z")...)
	mongosh(t, s.URI, "weather24h.js", "PHASE=expire").reports(t)
}

// The nine cells of document TTL, over a restart and a crash.
func TestMongoshSessions(t *testing.T) {
	t.Parallel()
	s := start(t, clockAt("2026-01-01T00:00:00Z")...)
	mongosh(t, s.URI, "sessions.js", "PHASE=load").reports(t)
	s = s.restart(t, false, clockAt("2026-01-01T00:16:40Z")...)
	mongosh(t, s.URI, "sessions.js", "PHASE=first").reports(t)
	syncJournal(t, s.URI)
	s = s.restart(t, true, clockAt("2029-01-01T00:00:00Z")...)
	mongosh(t, s.URI, "sessions.js", "PHASE=last").reports(t)
}

// Every policy once, from create to metrics.
func TestMongoshPolicies(t *testing.T) {
	t.Parallel()
	s := start(t, clockAt("2026-01-01T00:00:00Z")...)
	mongosh(t, s.URI, "policies.js").reports(t)
}

func TestMongoshPartialTTL(t *testing.T) {
	t.Parallel()
	s := start(t, "--setParameter", "ttlMonitorSleepSecs=1")
	mongosh(t, s.URI, "partial.js").reports(t)
}
