package main

import (
	"os"
	"time"
)

// usage is the processor time of all sides of a measurement: that of the server and of the
// database below it, if their processes are on this machine and known, and that of the load
// generator itself.
type usage struct {
	server, database, own meter
}

// meter adds up the processor time of a process between start and stop.
type meter struct {
	pid   int
	tree  bool // the children of the process count, too
	begun time.Duration
	used  time.Duration
	known bool
}

func (m *meter) start() { m.begun, m.known = m.read() }

func (m *meter) read() (time.Duration, bool) {
	if m.tree {
		return treeTime(m.pid)
	}
	return processTime(m.pid)
}

func (m *meter) stop() {
	end, ok := m.read()
	if m.known = m.known && ok; m.known {
		m.used = end - m.begun
	}
}

// perOp returns microseconds per operation, 0 if they are not known.
func (m *meter) perOp(ops int64) float64 {
	if !m.known || ops == 0 {
		return 0
	}
	return float64(m.used) / float64(time.Microsecond) / float64(ops)
}

func newUsage(t *target) *usage {
	return &usage{server: meter{pid: t.pid}, database: meter{pid: t.database, tree: true}, own: meter{pid: os.Getpid()}}
}

func (u *usage) start() {
	u.own.start()
	u.database.start()
	u.server.start()
}

func (u *usage) stop() {
	u.server.stop()
	u.database.stop()
	u.own.stop()
}

// medianCPURatio is the median over the rounds of b's processor time per operation to a's:
// like the ratio of speeds, it is above 1 if a is better. It is 0 if one of them is not
// known.
func medianCPURatio(a, b []result) float64 {
	var ratios []float64
	for i := range min(len(a), len(b)) {
		if a[i].ServerCPU > 0 && b[i].ServerCPU > 0 {
			ratios = append(ratios, b[i].ServerCPU/a[i].ServerCPU)
		}
	}
	return median(ratios...)
}

func serverCPU(r result) float64   { return r.ServerCPU }
func databaseCPU(r result) float64 { return r.DatabaseCPU }
func ownCPU(r result) float64      { return r.OwnCPU }
