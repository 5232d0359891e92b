package agg

import (
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// DefaultMemoryLimit is how much a $sort or $group may hold in memory.
const DefaultMemoryLimit = 100 << 20

// Exec is one run of a pipeline. It belongs to one goroutine.
type Exec struct {
	Env          *expr.Env
	Host         Host
	AllowDiskUse bool
	MemoryLimit  int64        // per stage; 0: DefaultMemoryLimit
	TempDir      string       // where spilled data goes; "": the system's
	Interrupt    func() error // killOp and maxTimeMS; nil: never
	NowMillis    func() int64 // clock for stage times; nil: none are taken
	BypassDocVal bool         // bypassDocumentValidation, for the Host
	Tailable     bool         // of a change stream, for the Host
	Context      any          // the Host's own

	stats    map[stage]*Stats
	ticks    int
	views    int   // views being opened
	parent   *Exec // of a sub-pipeline, whose stages are not measured
	usedDisk bool
}

// Stats is what a stage did during a run.
type Stats struct {
	Returned   int64
	Millis     int64
	UsedDisk   bool
	Spills     int64
	SpillBytes int64
	Examined   int64 // of a $lookup: documents read on the other side
}

// UsedDisk reports whether any stage wrote temporary files.
func (x *Exec) UsedDisk() bool { return x.usedDisk }

func (x *Exec) memoryLimit() int64 {
	if x.MemoryLimit > 0 {
		return x.MemoryLimit
	}
	return DefaultMemoryLimit
}

// tick is called for every document and asks now and then whether to go on.
func (x *Exec) tick() error {
	x.ticks++
	if x.ticks&63 == 0 && x.Interrupt != nil {
		return x.Interrupt()
	}
	return nil
}

// stat returns the statistics of a stage of this run.
func (x *Exec) stat(s stage) *Stats {
	if x.stats == nil {
		x.stats = map[stage]*Stats{}
	}
	st := x.stats[s]
	if st == nil {
		st = &Stats{}
		x.stats[s] = st
	}
	return st
}

// spilled notes that a stage wrote n bytes to disk.
func (x *Exec) spilled(s stage, n int64) {
	for up := x; up != nil; up = up.parent {
		up.usedDisk = true
	}
	if x.parent != nil {
		return
	}
	st := x.stat(s)
	st.UsedDisk = true
	st.Spills++
	st.SpillBytes += n
}

// sub makes the Exec of a sub-pipeline: same host and limits, its own
// variables and metadata.
func (x *Exec) sub() *Exec {
	c := *x
	c.Env = x.Env.Fork()
	c.stats = nil
	c.parent = x
	return &c
}

// ticking asks for interruptions at the source of a pipeline.
type ticking struct {
	x   *Exec
	src Iterator
}

func (t *ticking) Next() (value.Doc, error) {
	if err := t.x.tick(); err != nil {
		return nil, err
	}
	return t.src.Next()
}

func (t *ticking) Close() { t.src.Close() }

// measured counts what a stage returns, and the time until then (with that
// of the stages before it, as mongod reports it).
type measured struct {
	x   *Exec
	st  *Stats
	src Iterator
}

func (m *measured) Next() (value.Doc, error) {
	start := int64(0)
	if m.x.NowMillis != nil {
		start = m.x.NowMillis()
	}
	d, err := m.src.Next()
	if m.x.NowMillis != nil {
		m.st.Millis += m.x.NowMillis() - start
	}
	if d != nil {
		m.st.Returned++
	}
	return d, err
}

func (m *measured) Close() { m.src.Close() }
