package compat

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/duskdb/duskdb/internal/needs"
)

// clientLimit is how long one client program may take; a first build of the
// Rust driver takes longer.
const (
	clientLimit = 2 * time.Minute
	rustLimit   = 8 * time.Minute
)

// client is a program in another language.
type client struct {
	args []string
	dir  string
	env  []string

	limit time.Duration // 0: clientLimit
}

// output runs a client and returns what it printed. The client must exit
// with 0 unless it printed a report of failures.
func (c client) output(t *testing.T) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), cmp.Or(c.limit, clientLimit))
	defer cancel()
	cmd := exec.CommandContext(ctx, c.args[0], c.args[1:]...)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), c.env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && !strings.Contains(stdout.String(), "not ok ") {
		t.Fatalf("%s: %v\n%s\n%s", filepath.Base(c.args[0]), err, stdout.String(), stderr.String())
	}
	return stdout.String()
}

// reports runs a client that prints "ok NAME" or "not ok NAME: WHY" for each check, and
// "done" at the end. Each check becomes a subtest. Lines "# TEXT" are figures for the log.
func (c client) reports(t *testing.T) {
	t.Helper()
	out := c.output(t)
	done, checks := false, 0
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "ok "); ok {
			t.Run(name, func(*testing.T) {})
			checks++
		} else if rest, ok := strings.CutPrefix(line, "not ok "); ok {
			name, why, _ := strings.Cut(rest, ": ")
			t.Run(name, func(t *testing.T) { t.Error(strings.ReplaceAll(why, `\n`, "\n")) })
			checks++
		} else if figure, ok := strings.CutPrefix(line, "# "); ok {
			t.Log(figure)
		}
		done = done || line == "done"
	}
	if !done || checks == 0 {
		t.Errorf("the client did not come to its end:\n%s", out)
	}
}

// folder is the absolute path of a language's folder, and what is in it.
func folder(t *testing.T, elem ...string) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join(elem...))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// nodeScript is a script in the folder node, with the clients in reach.
func nodeScript(t *testing.T, name string, env ...string) client {
	t.Helper()
	needs.Client(t, "node", "npm")
	modules := filepath.Join(nodeClients.path(t), "node_modules")
	return client{args: []string{"node", folder(t, "node", name)}, env: append(env, "NODE_PATH="+modules)}
}

// mongosh is a script in the folder mongosh, run by the shell.
func mongosh(t *testing.T, uri, name string, env ...string) client {
	t.Helper()
	needs.Client(t, "node", "npm")
	dir := nodeClients.path(t)
	shell := filepath.Join(dir, "node_modules", "mongosh", "bin", "mongosh.js")
	return client{
		args: []string{"node", shell, uri, "--quiet", "--norc", "--file", folder(t, "mongosh", "checks.js"), "--file", folder(t, "mongosh", name)},
		env:  append(env, "DATASETS="+datasets(t), "CHECKS="+folder(t, "node", "checks.js"), "HOME="+t.TempDir()),
	}
}

// datasets is the folder of vega-datasets' files.
func datasets(t *testing.T) string {
	t.Helper()
	needs.Client(t, "node", "npm")
	return filepath.Join(nodeClients.path(t), "node_modules", "vega-datasets", "data")
}

// pkgConfig is the flags to build against a C library, if it is installed.
func pkgConfig(library string) (string, bool) {
	out, err := exec.Command("pkg-config", "--cflags", "--libs", library).Output()
	return string(out), err == nil
}
