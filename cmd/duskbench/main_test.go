package main

import (
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// actAs makes the test binary play the server binary that a test starts.
const actAs = "DUSKBENCH_TEST_ACT_AS"

func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == "null": // as duskbench starts itself
		main()
		return
	case os.Getenv(actAs) == "server":
		actAsServer()
	case os.Getenv(actAs) == "failure":
		fmt.Println("cannot open the data directory")
		os.Exit(3)
	}
	os.Exit(m.Run())
}

// actAsServer serves like a server binary: --port, --dbpath, SIGTERM.
func actAsServer() {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	port, err := strconv.Atoi(os.Args[slices.Index(os.Args, "--port")+1])
	if err != nil {
		os.Exit(4)
	}
	if _, err := os.Stat(os.Args[slices.Index(os.Args, "--dbpath")+1]); err != nil {
		os.Exit(5)
	}
	if _, err := startNull(port); err != nil {
		os.Exit(6)
	}
	<-stop
	os.Exit(0)
}

// nullTarget starts a null server in this process.
func nullTarget(t testing.TB) *target {
	t.Helper()
	s, err := startNull(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
	return &target{name: "null", addr: s.addr(), stop: func() error { return nil }}
}

// shortLoad are options for runs that take no time worth mentioning.
func shortLoad() loadOptions {
	return loadOptions{
		Workload: []string{"ping"}, Connections: []int{2},
		Duration: 20 * time.Millisecond, Warmup: time.Millisecond,
		Docs: 2500, DocSize: 200, Batch: 10, Seed: 1, Compressor: "none", Client: "wire",
	}
}
