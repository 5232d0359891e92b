package main

import (
	"os"
	"strconv"
	"testing"
	"time"
)

func TestWatchdogInterval(t *testing.T) {
	own := strconv.Itoa(os.Getpid())
	for _, tt := range []struct {
		usec, pid string
		want      time.Duration
	}{
		{"60000000", "", 30 * time.Second},
		{"60000000", own, 30 * time.Second},
		{"60000000", own + "0", 0}, // meant for another process
		{"", "", 0},
		{"0", "", 0},
		{"-1", "", 0},
		{"1s", "", 0},
	} {
		env := map[string]string{"WATCHDOG_USEC": tt.usec, "WATCHDOG_PID": tt.pid}
		if got := watchdogInterval(func(name string) string { return env[name] }); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}
