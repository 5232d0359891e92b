package transfer_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/transfer"
)

var record = flag.Bool("record", false, "write testdata/mongodump.* with the mongodump that is installed")

// restoring are the forms of a dump, and what reads them.
var restoring = map[string]struct {
	flags   []string // flags of mongodump, before the place
	restore func(transfer.Runner, string, transfer.DumpOptions) (transfer.Result, error)
}{
	"directory":        {[]string{"--out"}, transfer.RestoreDump},
	"directory-packed": {[]string{"--gzip", "--out"}, transfer.RestoreDump},
	"archive":          {[]string{"--archive"}, restoreArchiveFile},
	"archive-packed":   {[]string{"--gzip", "--archive"}, restoreArchiveFile},
}

func restoreArchiveFile(to transfer.Runner, file string, o transfer.DumpOptions) (transfer.Result, error) {
	f, err := os.Open(file)
	if err != nil {
		return transfer.Result{}, err
	}
	defer f.Close()
	return transfer.RestoreArchive(to, f, o)
}

// mongodump dumps a server with the real program.
func mongodump(t *testing.T, s scene, place string, flags []string) {
	t.Helper()
	last := len(flags) - 1
	args := append([]string{"--quiet", "--uri", s.URI()}, flags[:last]...)
	if out, err := exec.CommandContext(t.Context(), "mongodump", append(args, flags[last]+"="+place)...).CombinedOutput(); err != nil {
		t.Fatalf("mongodump: %v\n%s", err, out)
	}
}

// pack stores a dump beside this test. A directory becomes one file: the names in it are
// too long for some file systems.
func pack(t *testing.T, place, file string) {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	out := tar.NewWriter(z)
	if err := errors.Join(out.AddFS(os.DirFS(place)), out.Close(), z.Close(), os.WriteFile(file, b.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// unpack makes the directory again.
func unpack(t *testing.T, file, place string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for in := tar.NewReader(z); ; {
		head, err := in.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if head.FileInfo().IsDir() {
			continue
		}
		data, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		write(t, false, filepath.Join(place, filepath.FromSlash(head.Name)), data)
	}
}

// To record dumps of another version of mongodump, or of more kinds of collections:
//
//	go test ./internal/transfer -run TestMongodump -record

// dumps makes dumps of a server in all forms, by the form and where it is from: those
// stored beside this test, and those of the mongodump that is installed, if any.
func dumps(t *testing.T, source scene) map[string]string {
	t.Helper()
	const directory = "testdata/mongodump.tar.gz"
	const archive = "testdata/mongodump.archive.gz"
	live, out := t.TempDir(), map[string]string{}
	if _, err := exec.LookPath("mongodump"); err == nil {
		for name, form := range restoring {
			out[name] = filepath.Join(live, name)
			mongodump(t, source, out[name], form.flags)
		}
	}
	if *record {
		pack(t, out["directory"], directory)
		data, err := os.ReadFile(out["archive-packed"])
		if err = errors.Join(err, os.WriteFile(archive, data, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	out["stored archive"], out["stored directory"] = archive, filepath.Join(live, "stored")
	unpack(t, directory, out["stored directory"])
	return out
}

// What mongodump dumped of every kind of collection is the same after the import.
func TestMongodump(t *testing.T) {
	source := still(t)
	source.fill(t)
	want := source.state(t, allDatabases...)
	for name, place := range dumps(t, source) {
		restore := restoring["archive"].restore
		if strings.Contains(name, "directory") {
			restore = transfer.RestoreDump
		}
		s := still(t)
		var errs []error
		o := transfer.DumpOptions{OnError: func(err error) { errs = append(errs, err) }}
		for range 2 { // and once more, over what is there
			res, err := restore(s.conn, place, o)
			if err != nil || res.Failed > 0 || res.Left > 0 || len(errs) > 0 || res.Imported == 0 {
				t.Errorf("%s: %+v, %v, %v", name, res, err, errs)
			}
			differences(t, name, want, s.state(t, allDatabases...))
			o.Drop = true
		}
		if err := s.conn.Login("app", "ada", "secret", ""); err != nil {
			t.Errorf("%s: a restored user cannot log in: %v", name, err)
		}
	}
}
