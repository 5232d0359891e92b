//go:build unix

package access

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// startOpen starts the server with a umask by which everybody can read its files.
func startOpen(t *testing.T, dir string, args ...string) *process {
	t.Helper()
	real := binary
	defer func() { binary = real }()
	binary = filepath.Join(t.TempDir(), "open")
	script := fmt.Sprintf("#!/bin/sh\numask 000\nexec %s \"$@\"\n", real)
	if err := os.WriteFile(binary, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return start(t, dir, args...)
}

// readable lists the files below a directory that others than the owner may read.
func readable(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		st, err := e.Info()
		if err == nil && st.Mode().Perm()&0o077 != 0 {
			list = append(list, fmt.Sprintf("%s %04o", path, st.Mode().Perm()))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestFilesAreTheOwners checks all files of a server: data, the log of a compaction,
// backups, its log, the directory of temporary files.
func TestFilesAreTheOwners(t *testing.T) {
	top := filepath.Join(t.TempDir(), "top")
	data, saved, logs := filepath.Join(top, "data"), filepath.Join(top, "saved"), filepath.Join(top, "logs")
	for _, dir := range []string{top, logs} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p := startOpen(t, data, "--logpath", filepath.Join(logs, "server.log"))
	root := p.root()
	root.must("test", `{"insert": "c", "documents": [{"_id": 1}]}`)
	root.must("test", `{"compact": "c"}`)
	root.must("admin", fmt.Sprintf(`{"duskBackup": 1, "path": %q}`, saved))
	root.must("admin", `{"logRotate": 1}`)
	if list := readable(t, top); len(list) > 0 {
		t.Errorf("others may read %v", list)
	}
	p.stop()
	if list := readable(t, top); len(list) > 0 {
		t.Errorf("others may read %v after the end", list)
	}
	if err := os.Chmod(filepath.Join(data, "duskdb.bunt"), 0o644); err != nil {
		t.Fatal(err)
	}
	p = startOpen(t, data)
	if list := readable(t, data); len(list) > 0 {
		t.Errorf("others may still read %v", list)
	}
	p.stop()
	if !strings.Contains(p.Stderr.String(), "could be read by others than its owner (mode 0644)") {
		t.Errorf("nothing was said of it: %s", p.Stderr.String())
	}
}

// TestFilesForTheGroup lets the group read everything, for example for log shippers.
func TestFilesForTheGroup(t *testing.T) {
	for parameter, want := range map[string]os.FileMode{"processUmask=027": 0o640, "honorSystemUmask=true": 0o666} {
		top := t.TempDir()
		log := filepath.Join(top, "server.log")
		p := startOpen(t, filepath.Join(top, "data"), "--logpath", log, "--setParameter", parameter)
		p.root().must("admin", `{"logRotate": 1}`)
		names, err := filepath.Glob(log + "*")
		if err != nil || len(names) != 2 {
			t.Fatalf("logs %v, %v", names, err)
		}
		for _, name := range append(names, filepath.Join(top, "data", "duskdb.bunt")) {
			if st, err := os.Stat(name); err != nil || st.Mode().Perm() != want {
				t.Errorf("%s: %v, %v", parameter, st, err)
			}
		}
		p.stop()
	}
}

// TestFormsOfMongod starts the server as scripts and old packages start mongod.
func TestFormsOfMongod(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	key := write("keys", "- c2VjcmV0\n- c2VjcmV0Mg==\n")
	old := write("mongodb.conf", "# mongodb.conf\nquiet=false\n# addresses\nbind_ip = 127.0.0.1,localhost\njournal=true\nkeyFile="+key+"\n")
	for _, args := range []string{
		"mongod --bind_ip localhost,127.0.0.1 --replSet rs0",
		"-f " + old,
		"--bind_ip 127.0.0.1,no-such-host.invalid --slowOpSampleRate 0 --setParameter enableFlowControl=false --setParameter oplogFetcherUsesExhaust=false --setParameter diagnosticDataCollectionEnabled=true",
	} {
		p := start(t, t.TempDir(), strings.Fields(args)...)
		p.root().must("admin", `{"ping": 1}`)
		p.stop()
		if strings.Contains(args, "enableFlowControl") {
			for _, want := range []string{"Found no addresses", "no-such-host.invalid", `"parameter":"enableFlowControl"`, `"parameter":"oplogFetcherUsesExhaust"`} {
				if !strings.Contains(p.Stderr.String(), want) {
					t.Errorf("the log lacks %s: %s", want, p.Stderr.String())
				}
			}
		}
	}
}

// TestStartIsRefused starts servers with settings that would be less secure than they
// seem.
func TestStartIsRefused(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("c2VjcmV0"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(key, 0o644); err != nil {
		t.Fatal(err)
	}
	group := filepath.Join(t.TempDir(), "group")
	if err := os.WriteFile(group, []byte("c2VjcmV0"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(group, 0o640); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"--keyFile " + group:              "permissions on " + group + " are too open",
		"--bind_ip no-such-host.invalid":  "No available addresses/ports to bind to",
		"--setParameter mongos=1":         "Unknown --setParameter 'mongos'",
		"--keyFile " + key:                "permissions on " + key + " are too open",
		"--tlsCertificateKeyFile " + key:  "need to enable TLS via the sslMode/tlsMode flag when using TLS configuration parameters",
		"--tlsCAFile " + key:              "need to enable TLS via the sslMode/tlsMode flag when using TLS configuration parameters",
		"--setParameter processUmask=999": "processUmask must be an octal number",
	} {
		cmd := exec.Command(binary, append([]string{"--dbpath", t.TempDir(), "--port", "0"}, strings.Fields(args)...)...)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v: %s", args, err, out)
		}
	}
}

// TestNoUsersYet: without users the log says which clients can connect.
func TestNoUsersYet(t *testing.T) {
	for args, want := range map[string]string{
		"": "Clients on this machine may create the first one",
		"--setParameter enableLocalhostAuthBypass=false": "nobody can log in",
	} {
		p := startWithoutRoot(t, t.TempDir(), strings.Fields(args)...)
		p.stop()
		if !strings.Contains(p.Stderr.String(), want) {
			t.Errorf("%s: %s", args, p.Stderr.String())
		}
	}
}
