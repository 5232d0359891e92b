package compat

import (
	"bufio"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/proc"
)

// startCluster runs two servers over the same data, and load balancers before them. It
// returns how clients reach the servers, directly or through the balancer of one. The
// drivers' suites read the addresses of the balancers from the environment.
func startCluster(t *testing.T, balanced bool, flags ...string) (uri string) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "cluster")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./cluster").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(program, append([]string{"-servers", "2"}, flags...)...) // as many as in the drivers' own CI: some tests count events
	log := &proc.Output{}
	cmd.Stderr = log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("the servers' log:\n%s", log.Tail(4000))
		}
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if direct, ok := strings.CutPrefix(lines.Text(), "duskdb listening on "); ok {
			uri = direct
		}
		if addresses, ok := strings.CutPrefix(lines.Text(), "balancers "); ok {
			single, multi, _ := strings.Cut(addresses, " ")
			t.Setenv("SINGLE_MONGOS_LB_URI", single)
			t.Setenv("MULTI_MONGOS_LB_URI", multi)
			if balanced {
				uri = single
			}
			return uri
		}
	}
	t.Fatalf("the servers did not say where they listen:\n%s", log.Tail(4000))
	return ""
}
