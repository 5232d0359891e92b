package stage_test

import (
	"errors"
	"syscall"
	"testing"

	"github.com/duskdb/duskdb/query/agg/internal/aggtest"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// fake is a stage that does nothing.
type fake struct {
	stage.Passive
	name string
}

func (s *fake) Name() string { return s.name }

func (s *fake) Spec() value.Value { return value.Null() }

func (s *fake) Open(_ *stage.Exec, src stage.Iterator) (stage.Iterator, error) { return src, nil }

var errStop = errors.New("stop")

// TestLimitsOfMemory: a limit of 0 is that of a $sort, or the default of 100 MB.
func TestLimitsOfMemory(t *testing.T) {
	l := stage.Limits{Push: 1, AddToSet: 2, TopN: 3}
	for op, want := range map[string]int{"$push": 1, "$addToSet": 2, "$topN": 3, "$firstN": 3, "$maxN": 3} {
		if got := l.OfAccumulator(op); got != want {
			t.Errorf("%s: %d, want %d", op, got, want)
		}
	}
	const mega100 = 100 * 1024 * 1024
	if got := (&stage.Limits{}).OfAccumulator("$push"); got != mega100 {
		t.Error(got)
	}
	x := &stage.Exec{}
	if x.SortLimit() != mega100 || x.Limit(0) != mega100 || x.Limit(7) != 7 {
		t.Error(x.SortLimit(), x.Limit(0), x.Limit(7))
	}
	if x.MemoryLimit = 5; x.SortLimit() != 5 || x.Limit(0) != 5 || x.Limit(7) != 7 {
		t.Error(x.SortLimit(), x.Limit(0), x.Limit(7))
	}
}

// TestTickAsksNowAndThen: an interruption is noticed, though not at once.
func TestTickAsksNowAndThen(t *testing.T) {
	asked := 0
	x := &stage.Exec{Interrupt: func() error { asked++; return errStop }}
	var docs []value.Doc
	for range 1000 {
		docs = append(docs, value.EmptyDoc)
	}
	got, err := aggtest.ReadAll(x.Interruptible(stage.Docs(docs...)))
	if !errors.Is(err, errStop) || asked != 1 || len(got) >= 100 {
		t.Error(err, asked, len(got))
	}
	if got, err = aggtest.ReadAll((&stage.Exec{}).Interruptible(stage.Docs(docs...))); err != nil || len(got) != 1000 {
		t.Error(err, len(got))
	}
}

// TestStatistics: a run counts what its stages return and write to disk; a run inside it
// passes on only that the disk was used.
func TestStatistics(t *testing.T) {
	s, docs := &fake{name: "$x"}, aggtest.Docs(t, `[{"a": 1}, {"a": 2}]`)
	x := aggtest.Exec(nil)
	if it := stage.Docs(docs...); x.Measure(s, it) != it {
		t.Error("a run without a clock is measured")
	}
	now := int64(0)
	x.NowMillis = func() int64 { now += 5; return now }
	if got, err := aggtest.ReadAll(x.Measure(s, stage.Docs(docs...))); err != nil || len(got) != 2 {
		t.Fatal(got, err)
	}
	if st := x.StatsOf(s); st.Returned != 2 || st.Millis != 15 || x.UsedDisk() {
		t.Error(st)
	}
	sub := x.Sub()
	if !sub.Nested() || x.Nested() {
		t.Error("which is nested?")
	}
	if it := stage.Docs(); sub.Measure(s, it) != it {
		t.Error("a run inside another is measured")
	}
	sub.Spilled(s, 10)
	if st := x.StatsOf(s); !x.UsedDisk() || !sub.UsedDisk() || st.UsedDisk {
		t.Error(x.UsedDisk(), st)
	}
	x.Spilled(s, 10)
	x.Spilled(s, 20)
	b := value.NewBuilder()
	x.StatsOf(s).AppendDisk(b)
	if got := b.Doc().CanonicalJSON(); got != `{"usedDisk":true,"spills":{"$numberLong":"2"},"spilledDataStorageSize":{"$numberLong":"30"}}` {
		t.Error(got)
	}
}

func TestViewsAreCounted(t *testing.T) {
	x := &stage.Exec{}
	for i, want := range []bool{true, true, false} {
		if x.EnterView(2) != want {
			t.Errorf("view %d of at most 2", i+1)
		}
	}
	x.LeaveView()
	x.LeaveView()
	if !x.EnterView(2) {
		t.Error("no view after leaving")
	}
}

// counted notes how often an iterator is closed.
type counted struct {
	stage.Iterator
	closed int
}

func (c *counted) Close() { c.closed++; c.Iterator.Close() }

func TestIterators(t *testing.T) {
	docs := aggtest.Docs(t, `[{"a": 1}, {"a": 2}]`)
	src := &counted{Iterator: stage.Docs(docs...)}
	opened := 0
	lazy := stage.Lazy(src, func() (stage.Iterator, error) { opened++; return stage.Docs(docs...), nil })
	if opened != 0 {
		t.Error("opened before the first document")
	}
	if got, err := aggtest.ReadAll(lazy); err != nil || len(got) != 2 || opened != 1 || src.closed != 1 {
		t.Error(got, err, opened, src.closed)
	}
	lazy = stage.Lazy(nil, func() (stage.Iterator, error) { opened++; return nil, errStop })
	if _, err := aggtest.ReadAll(lazy); !errors.Is(err, errStop) {
		t.Error(err)
	}
	if d, err := lazy.Next(); d != nil || err != nil || opened != 2 {
		t.Error("a closed iterator opens again", d, err)
	}
	pulled := stage.Pull(src, src.Next)
	if got, err := aggtest.ReadAll(pulled); err != nil || len(got) != 0 || src.closed != 2 {
		t.Error(got, err, src.closed)
	}
	stage.Pull(nil, nil).Close()
	x := aggtest.Exec(nil)
	x.NowMillis = func() int64 { return 0 }
	src = &counted{Iterator: stage.Docs(docs...)}
	x.Measure(&fake{}, x.Interruptible(stage.Transformed(x, &doubled{}, src))).Close()
	if src.closed != 1 {
		t.Error("the source is still open")
	}
	it := stage.Docs(docs...)
	it.Close()
	if d, err := it.Next(); d != nil || err != nil {
		t.Error(d, err)
	}
}

// doubled is a transformer that doubles the field "a".
type doubled struct{ fake }

func (*doubled) Transform(_ *stage.Exec, d value.Doc) (value.Doc, error) {
	n := d.Lookup("a").Int64()
	if n > 5 {
		return nil, errStop
	}
	return value.NewDoc("a", value.Int32(int32(2*n))), nil
}

func TestTransformed(t *testing.T) {
	x := aggtest.Exec(nil)
	got, err := aggtest.ReadAll(stage.Transformed(x, &doubled{}, stage.Docs(aggtest.Docs(t, `[{"a": 1}, {"a": 2}, {"a": 9}]`)...)))
	if aggtest.Canonical(got) != aggtest.Canonical(aggtest.Docs(t, `[{"a": 2}, {"a": 4}]`)) || !errors.Is(err, errStop) {
		t.Error(aggtest.Canonical(got), err)
	}
}

// TestMetadataOfDocuments: metadata is current with its document, and survives writing.
func TestMetadataOfDocuments(t *testing.T) {
	env := expr.NewEnv(0)
	var score, none expr.Meta
	score.Set(expr.MetaTextScore, value.Double(1.5))
	score.Set(expr.MetaRecordID, value.Int64(7))
	docs := aggtest.Docs(t, `[{"a": 1}, {"a": 2}]`)
	it := stage.MetaDocs(env, []stage.MetaDoc{{Doc: docs[0], Meta: score}, {Doc: docs[1], Meta: none}})
	if d, err := it.Next(); err != nil || d.JSON() != `{"a":1}` || env.Meta.Get(expr.MetaTextScore).Double() != 1.5 {
		t.Error(d, err, env.Meta)
	}
	if d, err := it.Next(); err != nil || d.JSON() != `{"a":2}` || !env.Meta.IsEmpty() {
		t.Error(d, err, env.Meta)
	}
	if d, err := it.Next(); d != nil || err != nil {
		t.Error(d, err)
	}
	for _, m := range []expr.Meta{score, none} {
		back, d := stage.SplitMeta(append(stage.AppendMeta(nil, m), docs[0]...))
		if d.JSON() != `{"a":1}` || back.Get(expr.MetaTextScore).JSON() != m.Get(expr.MetaTextScore).JSON() ||
			back.Get(expr.MetaRecordID).JSON() != m.Get(expr.MetaRecordID).JSON() || back.IsEmpty() != m.IsEmpty() {
			t.Error(back, d)
		}
	}
}

// TestDiskErrors: a full disk has its own error code.
func TestDiskErrors(t *testing.T) {
	for _, full := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG} {
		err := stage.DiskError(full)
		aggtest.CheckError(t, err, "14031: …")
		if !errors.Is(err, full) {
			t.Error("the cause is lost:", err)
		}
	}
	aggtest.CheckError(t, stage.DiskError(errStop), "39: error writing to temporary file: stop")
}

func TestDependencies(t *testing.T) {
	var d stage.Deps
	if r := (stage.Passive{}).Deps(&d); r != stage.SeesAll || d.Whole || len(d.Paths) != 0 || !(stage.Passive{}).Effect().Opaque {
		t.Error(r, d)
	}
	if d.Add("a.b"); d.Whole || len(d.Paths) != 1 {
		t.Error(d)
	}
	if r := (stage.Opaque{}).Deps(&d); r != stage.SeesNone || !d.Whole || !(stage.Opaque{}).Effect().Opaque {
		t.Error(r, d)
	}
}
