package stage

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
	MemoryLimit  int64        // the memory of a $sort; 0: DefaultMemoryLimit
	Limits       Limits       // the limits of other stages
	TempDir      string       // the directory of spilled data; "": the system's
	Interrupt    func() error // killOp and maxTimeMS; nil: never
	NowMillis    func() int64 // clock for stage times; nil: stages are not measured

	// FragmentID returns the _id of the n-th fragment of the change event that was
	// read last. Fragments are numbered from 1; for 0 it is the _id of the whole event.
	// The Host sets FragmentID when it opens $changeStream.
	FragmentID func(n int) value.Doc

	stats    map[Stage]*Stats
	ticks    int
	views    int   // views being opened
	parent   *Exec // the execution around a sub-pipeline, whose stages are not measured
	usedDisk bool
}

// Limits bounds what single stages and accumulators hold in memory, in bytes. 0 means
// the limit of a $sort or, from FacetDoc on, DefaultMemoryLimit.
type Limits struct {
	Group      int64
	BucketAuto int64
	Window     int64 // a partition of $setWindowFields
	Facet      int64 // input that $facet keeps
	FacetDoc   int64 // the document that $facet makes
	LookupDoc  int64 // bytes that a $lookup may add to one document

	Push     int64 // one $push
	AddToSet int64 // one $addToSet

	ConcatArrays int64 // one $concatArrays
	SetUnion     int64 // one $setUnion
	TopN         int64 // one $topN, $minN, $firstN and their relatives
}

// OfAccumulator returns the limit of an accumulator.
func (l *Limits) OfAccumulator(op string) int {
	n := l.TopN
	switch op {
	case "$push":
		n = l.Push
	case "$addToSet":
		n = l.AddToSet
	case "$concatArrays":
		n = l.ConcatArrays
	case "$setUnion":
		n = l.SetUnion
	}
	return int(OrDefault(n))
}

// OrDefault returns limit, or DefaultMemoryLimit if it is 0.
func OrDefault(limit int64) int64 {
	if limit > 0 {
		return limit
	}
	return DefaultMemoryLimit
}

// Stats are the statistics of a stage in one run.
type Stats struct {
	Returned   int64
	Millis     int64
	UsedDisk   bool
	Spills     int64
	SpillBytes int64
	Examined   int64 // the documents that a $lookup has read on the other side
}

// AppendDisk writes the statistics on the disk use of a stage.
func (st *Stats) AppendDisk(b *value.Builder) {
	b.Bool("usedDisk", st.UsedDisk)
	b.Int64("spills", st.Spills)
	b.Int64("spilledDataStorageSize", st.SpillBytes)
}

// UsedDisk reports whether any stage wrote temporary files.
func (x *Exec) UsedDisk() bool { return x.usedDisk }

// SortLimit returns how many bytes a $sort may hold in memory.
func (x *Exec) SortLimit() int64 { return OrDefault(x.MemoryLimit) }

// Limit returns limit, or the limit of a $sort if it is 0.
func (x *Exec) Limit(limit int64) int64 {
	if limit > 0 {
		return limit
	}
	return x.SortLimit()
}

// Tick is called for every document. Now and then it checks for an interruption.
func (x *Exec) Tick() error {
	x.ticks++
	if x.ticks&63 == 0 && x.Interrupt != nil {
		return x.Interrupt()
	}
	return nil
}

// StatsOf returns the statistics of a stage of this run.
func (x *Exec) StatsOf(s Stage) *Stats {
	if x.stats == nil {
		x.stats = map[Stage]*Stats{}
	}
	st := x.stats[s]
	if st == nil {
		st = &Stats{}
		x.stats[s] = st
	}
	return st
}

// Spilled notes that a stage wrote n bytes to disk.
func (x *Exec) Spilled(s Stage, n int64) {
	for up := x; up != nil; up = up.parent {
		up.usedDisk = true
	}
	if x.parent != nil {
		return
	}
	st := x.StatsOf(s)
	st.UsedDisk = true
	st.Spills++
	st.SpillBytes += n
}

// Sub makes the Exec of a sub-pipeline: same host and limits, its own
// variables and metadata.
func (x *Exec) Sub() *Exec {
	c := *x
	c.Env = x.Env.Fork()
	c.stats = nil
	c.parent = x
	return &c
}

// Nested reports whether this is the run of a sub-pipeline, whose stages are
// not measured.
func (x *Exec) Nested() bool { return x.parent != nil }

// EnterView counts the views being opened. It returns false if there are more than limit.
// LeaveView ends one.
func (x *Exec) EnterView(limit int) bool {
	x.views++
	return x.views <= limit
}

// LeaveView ends what EnterView began.
func (x *Exec) LeaveView() { x.views-- }

// Interruptible returns src with a check for interruptions at each document.
func (x *Exec) Interruptible(src Iterator) Iterator { return &ticking{x: x, src: src} }

// Measure counts the documents that a stage of this run returns, if the run has
// statistics.
func (x *Exec) Measure(s Stage, it Iterator) Iterator {
	if x.parent != nil || x.NowMillis == nil {
		return it
	}
	return &measured{x: x, st: x.StatsOf(s), src: it}
}

// ticking checks for interruptions at the source of a pipeline.
type ticking struct {
	x   *Exec
	src Iterator
	one single
}

func (t *ticking) Next() (value.Doc, error) {
	if err := t.x.Tick(); err != nil {
		return nil, err
	}
	return t.src.Next()
}

// NextBatch implements Batched.
func (t *ticking) NextBatch() ([]value.Doc, error) {
	b, ok := t.src.(Batched)
	if !ok {
		t.one.Iterator = t
		return t.one.NextBatch()
	}
	if t.x.Interrupt != nil {
		if err := t.x.Interrupt(); err != nil {
			return nil, err
		}
	}
	return b.NextBatch()
}

func (t *ticking) Close() { t.src.Close() }

// measured counts the documents that a stage returns, and the time that this takes. As
// in mongod, the time includes that of the stages before it.
type measured struct {
	x   *Exec
	st  *Stats
	src Iterator
}

func (m *measured) Next() (value.Doc, error) {
	start := m.x.NowMillis()
	d, err := m.src.Next()
	m.st.Millis += m.x.NowMillis() - start
	if d != nil {
		m.st.Returned++
	}
	return d, err
}

func (m *measured) Close() { m.src.Close() }
