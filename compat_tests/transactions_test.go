package compat

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/needs"
)

// Transactions and change streams from other languages: with a server that
// shows the face of a replica set, and with one that does not.
func TestTransactions(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]func(*testing.T, string) client{
		"node": func(t *testing.T, uri string) client { return nodeScript(t, "transactions.js", "URI="+uri) },
		"python": func(t *testing.T, uri string) client {
			needs.Client(t, "python3")
			python := filepath.Join(pythonClients.path(t), "venv", "bin", "python")
			return client{args: []string{python, folder(t, "python", "transactions.py")}, env: []string{"URI=" + uri}}
		},
		"java": func(t *testing.T, uri string) client {
			needs.Client(t, "java", "mvn")
			jars := filepath.Join(javaClients.path(t), "lib", "*")
			return client{args: []string{"java", "-cp", jars, folder(t, "java", "Transactions.java")}, env: []string{"URI=" + uri}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Run("alone", func(t *testing.T) { run(t, start(t, "--test-clock").URI).reports(t) })
			t.Run("member", func(t *testing.T) {
				uri := start(t, "--test-clock", "--replSet", "rs0").URI
				run(t, strings.Replace(uri, "directConnection=true", "replicaSet=rs0", 1)).reports(t)
			})
		})
	}
}
