package main

import (
	"bytes"
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/transfer"
	"github.com/duskdb/duskdb/server"
	"github.com/duskdb/duskdb/value"
)

// newer are ways in which a newer version can mark what it wrote, by the engine.
var newer = []struct {
	engine, file string
	old, new     string // in the file
}{
	{"bunt", "duskdb.bunt", "duskdb-bunt-4\n", "duskdb-bunt-9\n"},
	{"bunt", "duskdb.state", "duskdb-state-1\n", "duskdb-state-9\n"},
	{"pebble", "duskdb.pebble", "duskdb-pebble-2\n", "duskdb-pebble-9\n"},
}

// content are the files of a directory with what is in them, but for the lock.
func content(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasSuffix(strings.ToLower(e.Name()), "lock") {
			return err
		}
		b, err := os.ReadFile(path)
		out[path] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Data and backups of a newer version: every command names the version that wrote them and
// says that it is needed, none calls them damaged or speaks of --repair, and none changes them.
func TestNewerFormats(t *testing.T) {
	binary := built(t)
	for _, n := range newer {
		data := filepath.Join(t.TempDir(), "data")
		srv := writtenBy(t, n.engine, data, "9.9.9")
		backup := filepath.Join(t.TempDir(), "backup")
		mustRun(t, connect(t, srv.URI()), value.NewDoc("duskBackup", value.Int32(1), "path", value.String(backup), "$db", value.String("admin")))
		if err := srv.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		for what, dir := range map[string]string{"data": data, "backup": backup} {
			path := filepath.Join(dir, n.file)
			b, err := os.ReadFile(path)
			if err != nil {
				if what == "backup" {
					continue // a backup has no such file
				}
				t.Fatal(err)
			}
			if !bytes.Contains(b, []byte(n.old)) {
				t.Fatalf("%s does not contain %q", path, n.old)
			}
			if err := os.WriteFile(path, bytes.Replace(b, []byte(n.old), []byte(n.new), 1), 0o600); err != nil {
				t.Fatal(err)
			}
			// The note beside pebble's logs has the format as well, with a checksum: it is left out.
			if err := os.RemoveAll(filepath.Join(dir, "pebble", "duskdb.logs")); err != nil {
				t.Fatal(err)
			}
			before := content(t, dir)
			for name, args := range map[string][]string{
				"serve":   {"serve", "--dbpath", dir, "--port", "0", "--storageEngine", n.engine},
				"repair":  {"serve", "--dbpath", dir, "--port", "0", "--storageEngine", n.engine, "--repair"},
				"check":   {"check", "--dbpath", dir},
				"restore": {"restore", dir, "--dbpath", filepath.Join(t.TempDir(), "to")},
				"copy":    {"copy", n.engine + ":" + dir, "bunt:" + filepath.Join(t.TempDir(), "to"), "--quiet"},
			} {
				out, err := exec.CommandContext(t.Context(), binary, args...).CombinedOutput()
				text := string(out)
				if err == nil || !strings.Contains(text, "has format 9") || strings.Contains(text, "--repair") ||
					!strings.Contains(text, "DuskDB 9.9.9 wrote it. It is not damaged: use DuskDB 9.9.9 or later") {
					t.Errorf("%s, %s of %s: %v\n%s", n.file, name, what, err, text)
				}
			}
			if after := content(t, dir); !maps.Equal(before, after) {
				t.Errorf("%s, %s: files were changed: %v", n.file, what, slices.Sorted(maps.Keys(after)))
			}
		}
	}
}

// writtenBy starts a server of a version over a directory.
func writtenBy(t *testing.T, engine, dir, version string) *server.Server {
	t.Helper()
	return serving(t, server.Config{DBPath: dir, StorageEngine: engine, MemoryLimit: "none", Version: version})
}

// A stream of a newer version is refused in the same words.
func TestNewerStream(t *testing.T) {
	var b bytes.Buffer
	if err := transfer.Backup(connect(t, writtenBy(t, "bunt", t.TempDir(), "9.9.9").URI()), &b); err != nil {
		t.Fatal(err)
	}
	stream := bytes.Replace(b.Bytes(), []byte("duskdbBackup\x00\x01"), []byte("duskdbBackup\x00\x09"), 1)
	cmd := exec.CommandContext(t.Context(), built(t), "restore", "-", "--dbpath", filepath.Join(t.TempDir(), "to"))
	cmd.Stdin = bytes.NewReader(stream)
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "the backup has format 9, and this version of DuskDB reads formats up to 1: DuskDB 9.9.9 wrote it.") {
		t.Errorf("%v\n%s", err, out)
	}
}

// The version that wrote to a directory last is noted in it, for all engines.
func TestVersionIsNoted(t *testing.T) {
	for _, engine := range []string{"bunt", "pebble"} {
		dir := t.TempDir()
		for _, version := range []string{"1.0.0", "1.0.1", "1.0.0"} {
			srv := writtenBy(t, engine, dir, version)
			if err := srv.Close(context.Background()); err != nil {
				t.Fatal(err)
			}
			if b, err := os.ReadFile(filepath.Join(dir, "duskdb.version")); err != nil || string(b) != version+"\n" {
				t.Errorf("%s: %q, %v", engine, b, err)
			}
		}
	}
}
