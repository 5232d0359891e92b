package main

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestProcessTime: the time of a process grows by what it computes, and not while it
// waits. Measured with this process and with a child.
func TestProcessTime(t *testing.T) {
	before, ok := processTime(os.Getpid())
	if !ok {
		if runtime.GOOS == "linux" {
			t.Fatal("not known")
		}
		t.Skip("only Linux has it")
	}
	for end := before + 20*time.Millisecond; ; {
		if now, _ := processTime(os.Getpid()); now >= end {
			break
		}
	}
	child := exec.Command(os.Args[0], "null")
	in, err := child.StdinPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	used, ok := processTime(child.Process.Pid)
	if !ok || used < 0 || used > 10*time.Second {
		t.Errorf("a child: %v, %v", used, ok)
	}
	_ = in.Close()
	if err := child.Wait(); err != nil {
		t.Error(err)
	}
	for _, pid := range []int{0, -1, child.Process.Pid} {
		if _, ok := processTime(pid); ok {
			t.Errorf("process %d has a processor time", pid)
		}
	}
}

// TestMeter: the time between start and stop counts, per operation.
func TestMeter(t *testing.T) {
	m := meter{known: true, used: 3 * time.Millisecond}
	if got := m.perOp(1000); got != 3 {
		t.Errorf("got %v", got)
	}
	if m.perOp(0) != 0 || (&meter{used: 1}).perOp(5) != 0 {
		t.Error("a time that is not known")
	}
}

func TestMedianCPURatio(t *testing.T) {
	cost := func(us ...float64) (rs []result) {
		for _, v := range us {
			rs = append(rs, result{ServerCPU: v})
		}
		return rs
	}
	for _, c := range []struct {
		a, b []result
		want float64
	}{
		{cost(20, 40, 10), cost(10, 10, 10), 0.5},
		{cost(10), cost(0), 0},
		{cost(0, 10), cost(10, 30), 3},
		{nil, nil, 0},
	} {
		if got := medianCPURatio(c.a, c.b); got != c.want {
			t.Errorf("got %v, want %v", got, c.want)
		}
	}
}

// TestComparesProcessorTime compares two null servers, which cost the same, and fails if
// one should cost much less.
func TestComparesProcessorTime(t *testing.T) {
	if _, ok := processTime(os.Getpid()); !ok {
		t.Skip("only Linux has it")
	}
	c := compareCommand{A: "null", B: "null", Rounds: 1, loadOptions: shortLoad()}
	c.Workload, c.Connections, c.Duration = []string{"ping"}, []int{1}, 200*time.Millisecond
	var out strings.Builder
	if err := c.Run(&out); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(strings.TrimSpace(out.String()), "\n"); strings.HasSuffix(lines[len(lines)-1], "-") {
		t.Errorf("no ratio:\n%s", out.String())
	}
	c.MinCPU = 1000
	if err := c.Run(&out); err == nil || !strings.Contains(err.Error(), "processor times") {
		t.Errorf("got %v", err)
	}
}

// TestPidOfTarget: a server that runs already can be measured by its process id.
func TestPidOfTarget(t *testing.T) {
	if _, ok := processTime(os.Getpid()); !ok {
		t.Skip("only Linux has it")
	}
	c := runCommand{URI: nullTarget(t).addr, Pid: os.Getpid(), loadOptions: shortLoad()}
	if err := c.Run(new(strings.Builder)); err != nil {
		t.Error(err)
	}
	if c.Pid = 1 << 30; c.Run(new(strings.Builder)) == nil {
		t.Error("a process that does not exist is measured")
	}
}
