package freeport

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"testing"
)

func TestClaim(t *testing.T) {
	seen := map[int]bool{}
	for range 200 {
		port := For(t)
		if port < first || port >= first+count || seen[port] {
			t.Fatalf("port %d, after %d others", port, len(seen))
		}
		seen[port] = true
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			t.Fatal(err)
		}
		_ = l.Close()
		if claim(port) == nil {
			t.Fatalf("port %d can be claimed twice", port)
		}
	}
}

func TestClaimInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if claim(l.Addr().(*net.TCPAddr).Port) == nil {
		t.Error("a port on which a server listens can be claimed")
	}
}

// TestOtherProcess: a claim holds against other processes until its process ends.
func TestOtherProcess(t *testing.T) {
	if os.Getenv("FREEPORT_TEST_CLAIM") != "" {
		fmt.Println(For(t))
		_, _ = os.Stdin.Read(make([]byte, 1)) // until the other process closes it
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestOtherProcess$")
	cmd.Env = append(os.Environ(), "FREEPORT_TEST_CLAIM=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var port int
	if _, err := fmt.Fscanln(bufio.NewReader(out), &port); err != nil {
		t.Fatal(err)
	}
	if claim(port) == nil {
		t.Errorf("another process has claimed port %d", port)
	}
	_ = in.Close()
	_ = cmd.Wait()
	if err := claim(port); err != nil {
		t.Errorf("the process that had port %d is over: %v", port, err)
	}
}
