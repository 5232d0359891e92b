package mem

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kv"
	"github.com/duskdb/duskdb/storage/storagetest"
	"github.com/duskdb/duskdb/value"
)

// repackAtOnce is how many leaves are copied at a time.
const repackAtOnce = 512

// scattered is a tree of random keys whose leaves were copied often.
func scattered(n int) *entries {
	t, rnd := newEntries(), rand.New(rand.NewPCG(1, 2))
	for i := range n {
		if i%100 == 0 {
			t = t.fork()
		}
		t.Add(entry{fmt.Sprintf("%016x", rnd.Uint64()), storage.RecordID(i + 1)})
	}
	return t
}

// whole repacks all of a tree.
func whole(t *entries) *entries {
	for from, more := (entry{}), true; more; {
		var packed *entries
		if packed, from, more = t.repack(from, repackAtOnce); packed != nil {
			t = packed
		}
	}
	return t
}

// TestRepackedTogether: the leaves below a branch lie one after the other, without room
// between them.
func TestRepackedTogether(t *testing.T) {
	tree := scattered(20_000)
	want := entryList(tree)
	tree = whole(tree)
	if !slices.Equal(entryList(tree), want) {
		t.Fatal("the entries have changed")
	}
	leaves := 0
	var walk func(n *entryNode)
	walk = func(n *entryNode) {
		for i, c := range n.children {
			if c.children != nil {
				walk(c)
				continue
			}
			leaves++
			if i == 0 {
				continue
			}
			before := n.children[i-1]
			if unsafe.Pointer(unsafe.SliceData(c.slots)) != unsafe.Add(unsafe.Pointer(unsafe.SliceData(before.slots)), len(before.slots)*int(unsafe.Sizeof(slot{}))) ||
				unsafe.Pointer(unsafe.SliceData(c.keys)) != unsafe.Add(unsafe.Pointer(unsafe.SliceData(before.keys)), len(before.keys)) {
				t.Fatal("a leaf lies apart")
			}
		}
	}
	walk(tree.root)
	if leaves < 20_000/leafSize {
		t.Errorf("%d leaves", leaves)
	}
}

// TestRepackFrees: the memory that repacking a tree leaves becomes free, the more so as the
// tree was changed by many writers.
func TestRepackFrees(t *testing.T) {
	used := func() uint64 { // pages with objects
		runtime.GC()
		samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}}
		metrics.Read(samples)
		return samples[0].Value.Uint64() + samples[1].Value.Uint64()
	}
	empty := used()
	tree := scattered(100_000)
	before := used() - empty
	tree = whole(tree)
	after := used() - empty
	runtime.KeepAlive(tree)
	t.Logf("%d KB of pages, before %d", after>>10, before>>10)
	if after > before*2/3 {
		t.Error("little became free")
	}
}

// repacked is an engine that repacks after each write.
type repacked struct{ *kv.Engine }

func (e repacked) Update(ctx context.Context, fn func(storage.Tx) error) error {
	return e.after(e.Engine.Update(ctx, fn))
}

func (e repacked) UpdateShared(ctx context.Context, fn func(storage.Tx) error) error {
	return e.after(e.Engine.UpdateShared(ctx, fn))
}

// after repacks after a commit. Where there was none, another writer may be at work.
func (e repacked) after(err error) error {
	if err != nil {
		return err
	}
	if err = e.Repack(ctx); errors.Is(err, storage.ErrClosed) {
		return nil
	}
	return err
}

// TestConformanceRepacked: repacking changes nothing that the suite sees.
func TestConformanceRepacked(t *testing.T) {
	stores := map[string]*logged{}
	storagetest.Run(t, func(tb testing.TB, dir string, ix storage.Indexer) storage.Engine {
		if s := stores[dir]; s == nil {
			stores[dir] = &logged{Store: New()}
		} else {
			stores[dir] = s.replayed(tb)
		}
		return repacked{stores[dir].engine(tb, ix)}
	})
}

// TestRepack: the state and its stamp stay while nothing is written, and writers go on
// beside it.
func TestRepack(t *testing.T) {
	s := &logged{Store: New()}
	e := s.engine(t, storagetest.Indexer{})
	create(t, e, storagetest.UniqueSpec("_id"), storagetest.Spec("a"))
	insert := func(from, to int) {
		rnd := rand.New(rand.NewPCG(uint64(from), 2))
		for i := from; i < to; i += 50 {
			must(t, inColl(e, func(c storage.Collection) error {
				for k := range 50 {
					if _, err := c.Insert(value.NewDoc("_id", value.Int32(int32(i+k)), "a", value.Int32(rnd.Int32())), 1); err != nil {
						return err
					}
				}
				return nil
			}))
		}
	}
	insert(0, 5000)
	stamp, want := storagetest.Got(e.Stamp(ns)), storagetest.Dump(e)
	first := s.only(t).indexes[1].entries
	must(t, e.Repack(ctx))
	if s.only(t).indexes[1].entries == first {
		t.Error("nothing was repacked")
	}
	before, groups := s.only(t).indexes[1].entries, s.groups
	must(t, e.Repack(ctx))
	if s.only(t).indexes[1].entries != before || s.groups != groups {
		t.Error("repacked again, or the log knows of it")
	}
	if storagetest.Dump(e) != want {
		t.Error("the state has changed")
	}
	if now := storagetest.Got(e.Stamp(ns)); now != stamp {
		t.Errorf("stamp %d, want %d", now, stamp)
	}
	running, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		for running.Err() == nil {
			if err := e.Repack(running); err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
	})
	insert(5000, 7000)
	cancel()
	wg.Wait()
	if n := s.only(t).indexes[1].entries.Len(); n != 7000 {
		t.Errorf("%d entries", n)
	}
}

// TestRepackWaits: a snapshot transaction would keep the old leaves.
func TestRepackWaits(t *testing.T) {
	s := &logged{Store: New()}
	e := s.engine(t, storagetest.Indexer{})
	create(t, e, storagetest.UniqueSpec("_id"))
	must(t, inColl(e, func(c storage.Collection) error {
		for i := range 500 {
			if _, err := c.Insert(docOf(i, i), 1); err != nil {
				return err
			}
		}
		return nil
	}))
	txn := storagetest.Got(e.Begin(ctx))
	before := s.latest.Load()
	must(t, e.Repack(ctx))
	if s.latest.Load() != before {
		t.Error("repacked beside a snapshot transaction")
	}
	txn.Abort()
	must(t, e.Repack(ctx))
	if s.latest.Load() == before {
		t.Error("not repacked after it")
	}
	must(t, e.Close())
	if err := e.Repack(ctx); !errors.Is(err, storage.ErrClosed) {
		t.Errorf("%v after the end", err)
	}
}

// TestRepackAll: all indexes of all collections are repacked, however few leaves are at a time.
func TestRepackAll(t *testing.T) {
	base := New().latest.Load()
	f, rnd := base.fork(), rand.New(rand.NewPCG(1, 2))
	for i := range 20_000 {
		f.AddEntry(1+rnd.Uint32N(3), 5+rnd.Uint32N(2), fmt.Appendf(nil, "%016x", rnd.Uint64()), storage.RecordID(i+1))
		if i%100 == 0 {
			f = f.finish().fork()
		}
	}
	f = f.finish().fork()
	rounds := 0
	for from, more := (kv.Place{}), true; more; rounds++ {
		from, more, _ = f.Repack(from, 40)
		f = f.finish().fork()
	}
	if rounds < 10 {
		t.Errorf("%d rounds", rounds)
	}
	for num := uint32(1); num < 4; num++ {
		for index := uint32(5); index < 7; index++ {
			if again, _, _ := f.entries(num, index).repack(entry{}, 1e6); again != nil {
				t.Errorf("index %d of %d does not lie together", index, num)
			}
		}
	}
}
