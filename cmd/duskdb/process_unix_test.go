//go:build unix

package main

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/freeport"
)

// An init script starts the server in the background with the stock keys of a
// configuration file, reads its process id and stops it.
func TestForkAndShutdown(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	binary, dir, port := built(t), t.TempDir(), strconv.Itoa(freeport.For(t))
	in := func(name string) string { return filepath.Join(dir, name) }
	conf := writeConfig(t, "storage: {dbPath: "+in("data")+"}\nsystemLog: {destination: file, path: "+in("log")+"}\n"+
		"net: {port: "+port+", unixDomainSocket: {pathPrefix: "+dir+"}}\nprocessManagement: {fork: true, pidFilePath: "+in("pid")+"}\n")
	run := func(args ...string) (string, error) {
		var out bytes.Buffer
		cmd := exec.Command(binary, args...)
		cmd.Stdout, cmd.Stderr = &out, &out
		err := cmd.Run()
		return out.String(), err
	}
	out, err := run("-f", conf)
	if err != nil || !strings.Contains(out, "child process started successfully, parent exiting") {
		log, _ := os.ReadFile(in("log"))
		t.Fatalf("%v\n%s\n%s", err, out, log)
	}
	defer run("--shutdown", "--dbpath", in("data")) // stopped already, unless the test failed
	raw, err := os.ReadFile(in("pid"))
	if err != nil {
		t.Fatal(err)
	}
	if pid, err := strconv.Atoi(strings.TrimSpace(string(raw))); err != nil || !strings.Contains(out, "forked process: "+strconv.Itoa(pid)) {
		t.Errorf("pid %q, %v\n%s", raw, err, out)
	}
	if out, err := run("ping", "--port", port); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	c, err := net.Dial("unix", in("mongodb-"+port+".sock"))
	if err != nil {
		t.Error(err)
	} else {
		_ = c.Close()
	}
	if out, err := run("-f", conf, "--port", "0"); err == nil || !strings.Contains(out, "child process failed") {
		t.Errorf("a second server on the data: %v\n%s", err, out)
	}
	if out, err := run("--shutdown", "--dbpath", in("data")); err != nil || !strings.HasPrefix(out, "killing process with pid: "+strings.TrimSpace(string(raw))) {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := run("--shutdown", "--dbpath", in("data")); err == nil || !strings.Contains(out, "There doesn't seem to be a server running") {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := os.Stat(in("pid")); err == nil {
		t.Error("the file with the process id was not removed")
	}
}
