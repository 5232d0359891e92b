package mem

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kv"
)

// storeModel is a state of a store and what must be in it.
type storeModel struct {
	state   kv.Resident
	rows    map[string]string // descriptions, statistics and marks, by their keys
	records map[recordName]string
	entries map[entryName]bool
}

type recordName struct {
	num uint32
	id  storage.RecordID
}

type entryName struct {
	num, index uint32
	entry
}

func (m *storeModel) clone(state kv.Resident) *storeModel {
	return &storeModel{state, maps.Clone(m.rows), maps.Clone(m.records), maps.Clone(m.entries)}
}

// drop removes an index, or, if that is 0, what a collection has.
func (m *storeModel) drop(num, index uint32) {
	maps.DeleteFunc(m.entries, func(e entryName, _ bool) bool { return e.num == num && (index == 0 || e.index == index) })
	if index == 0 {
		maps.DeleteFunc(m.records, func(r recordName, _ string) bool { return r.num == num })
	}
}

var (
	genNum   = rapid.Uint32Range(1, 3)
	genIndex = rapid.Uint32Range(7, 8)
	genID    = rapid.Custom(func(t *rapid.T) storage.RecordID { return storage.RecordID(rapid.IntRange(1, 80).Draw(t, "id")) })
)

// valueOf is the value of which a record was made.
func valueOf(r storage.Record) string {
	return string(binary.LittleEndian.AppendUint64(nil, uint64(r.TS))) + string(r.Doc)
}

// check compares all that a state has.
func (m *storeModel) check(t *rapid.T) {
	t.Helper()
	for num := range uint32(4) {
		var got, want []string
		for id := range storage.RecordID(90) {
			v, there := m.records[recordName{num, id}]
			if stored := m.state.Record(num, id); (stored != nil) != there || string(stored) != v {
				t.Fatalf("record %d of %d is %q, want %q, %v", id, num, stored, v, there)
			}
			if there {
				want = append(want, fmt.Sprint(id, v))
			}
		}
		m.state.EachRecord(num, storage.Range{}, func(r storage.Record) bool {
			got = append(got, fmt.Sprint(r.ID, valueOf(r)))
			return true
		})
		if !slices.Equal(got, want) {
			t.Fatalf("records of %d: %q, want %q", num, got, want)
		}
		for index := uint32(6); index < 10; index++ {
			m.checkIndex(t, num, index, storage.KeyRange{})
		}
	}
	for _, space := range "bcs" {
		s := kv.SpanOf([]byte{byte(space)})
		var got, want []string
		for it := m.state.Scan(ctx, s.Lo, s.Hi, false); it.Next(); {
			v, _ := it.Value()
			got = append(got, string(it.Key())+string(v))
			if one, err := m.state.Get(ctx, it.Key()); err != nil || string(one) != string(v) {
				t.Fatalf("%x is %q, %v", it.Key(), one, err)
			}
		}
		for _, k := range slices.Sorted(maps.Keys(m.rows)) {
			if k[0] == byte(space) {
				want = append(want, k+m.rows[k])
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("rows %q, want %q", got, want)
		}
	}
}

// checkIndex compares a range of an index, with and without records.
func (m *storeModel) checkIndex(t *rapid.T, num, index uint32, r storage.KeyRange) {
	t.Helper()
	var want []entry
	for e := range m.entries {
		after := entry{string(r.AfterKey), r.AfterID}
		resumed := r.AfterKey != nil || r.AfterID != 0
		switch {
		case e.num != num || e.index != index, e.key < string(r.Lo), len(r.Hi) > 0 && e.key >= string(r.Hi):
		case resumed && !r.Reverse && !entryLess(after, e.entry), resumed && r.Reverse && !entryLess(e.entry, after):
		default:
			want = append(want, e.entry)
		}
	}
	slices.SortFunc(want, compareEntries)
	if r.Reverse {
		slices.Reverse(want)
	}
	var got, with []entry
	m.state.EachEntry(num, index, r, func(key []byte, id storage.RecordID) bool {
		got = append(got, entry{string(key), id})
		return true
	})
	m.state.EachEntryRecord(num, index, r, func(key []byte, r storage.Record) bool {
		with = append(with, entry{string(key), r.ID})
		if valueOf(r) != m.records[recordName{num, r.ID}] {
			t.Fatalf("the record of %q is %q", key, valueOf(r))
		}
		return true
	})
	if !slices.Equal(got, want) {
		t.Fatalf("index %d of %d, %+v: %v, want %v", index, num, r, got, want)
	}
	want = slices.DeleteFunc(want, func(e entry) bool { _, ok := m.records[recordName{num, e.id}]; return !ok })
	if !slices.Equal(with, want) {
		t.Fatalf("index %d of %d with records, %+v: %v, want %v", index, num, r, with, want)
	}
}

// TestStore compares states of a store with maps while forks are changed, applied or
// forgotten, and reads earlier states again. Several forks of one state are changed by turns,
// as by snapshot transactions.
func TestStore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := New()
		now := &storeModel{state: s.latest.Load(), rows: map[string]string{}, records: map[recordName]string{}, entries: map[entryName]bool{}}
		old := []*storeModel{}
		forks := []*storeModel{now.clone(now.state.Fork())}
		step := 0
		change := func(t *rapid.T, fn func(f kv.Fork, m *storeModel)) {
			m := rapid.SampledFrom(forks).Draw(t, "fork")
			fn(m.state.(kv.Fork), m)
		}
		t.Repeat(map[string]func(*rapid.T){
			"records": func(t *rapid.T) {
				change(t, func(f kv.Fork, m *storeModel) {
					for range rapid.IntRange(1, 40).Draw(t, "n") {
						r := recordName{genNum.Draw(t, "collection"), genID.Draw(t, "id")}
						if rapid.IntRange(0, 3).Draw(t, "delete") == 0 {
							f.SetRecord(r.num, r.id, nil)
							delete(m.records, r)
							continue
						}
						step++
						m.records[r] = fmt.Sprintf("value %8d", step)
						f.SetRecord(r.num, r.id, []byte(m.records[r]))
					}
				})
			},
			"entries": func(t *rapid.T) {
				change(t, func(f kv.Fork, m *storeModel) {
					for range rapid.IntRange(1, 40).Draw(t, "n") {
						e := entryName{genNum.Draw(t, "collection"), genIndex.Draw(t, "index"), entry{genKey.Draw(t, "key"), genID.Draw(t, "id")}}
						key := []byte(e.key)
						if rapid.IntRange(0, 3).Draw(t, "remove") == 0 {
							f.RemoveEntry(e.num, e.index, key, e.id)
							delete(m.entries, e)
						} else {
							f.AddEntry(e.num, e.index, key, e.id)
							m.entries[e] = true
						}
						clear(key) // it is not kept
					}
				})
			},
			"drop": func(t *rapid.T) {
				change(t, func(f kv.Fork, m *storeModel) {
					num, index := genNum.Draw(t, "collection"), uint32(0)
					if rapid.Bool().Draw(t, "of an index") {
						index = genIndex.Draw(t, "index")
						f.DropIndex(num, index)
					} else {
						f.DropCollection(num)
					}
					m.drop(num, index)
				})
			},
			"undo": func(t *rapid.T) {
				change(t, func(f kv.Fork, m *storeModel) {
					num, index := genNum.Draw(t, "collection"), genIndex.Draw(t, "index")
					f.UndoIndex(num, index)
					m.drop(num, index)
					f.(*Fork).base.EachEntry(num, index, storage.KeyRange{}, func(key []byte, id storage.RecordID) bool {
						m.entries[entryName{num, index, entry{string(key), id}}] = true
						return true
					})
				})
			},
			"write while reading": func(t *rapid.T) {
				change(t, func(f kv.Fork, m *storeModel) {
					num, index := genNum.Draw(t, "collection"), genIndex.Draw(t, "index")
					var got, want []entry
					for e := range m.entries {
						if e.num == num && e.index == index {
							want = append(want, e.entry)
						}
					}
					slices.SortFunc(want, compareEntries)
					f.EachEntry(num, index, storage.KeyRange{}, func(key []byte, id storage.RecordID) bool {
						e := entryName{num, index, entry{string(key), id}}
						got = append(got, e.entry)
						f.RemoveEntry(num, index, key, id)
						delete(m.entries, e)
						e.key += "x"
						f.AddEntry(num, index, []byte(e.key), id)
						m.entries[e] = true
						return true
					})
					if !slices.Equal(got, want) {
						t.Fatalf("visited %v, want %v", got, want)
					}
					n := 0
					f.EachRecord(num, storage.Range{}, func(r storage.Record) bool {
						f.SetRecord(num, r.ID, nil)
						f.SetRecord(num, r.ID+100, []byte("12345678"))
						n++
						return true
					})
					for r := range maps.Clone(m.records) {
						if r.num == num {
							n--
							delete(m.records, r)
						}
					}
					if n != 0 {
						t.Fatalf("%d records too many were visited", n)
					}
					f.EachRecord(num, storage.Range{}, func(r storage.Record) bool { f.SetRecord(num, r.ID, nil); return true })
				})
			},
			"scan": func(t *rapid.T) {
				m := rapid.SampledFrom(append(slices.Clone(forks), now)).Draw(t, "state")
				r := storage.KeyRange{Reverse: rapid.Bool().Draw(t, "reverse")}
				for _, b := range []*[]byte{&r.Lo, &r.Hi, &r.AfterKey} {
					if rapid.Bool().Draw(t, "bound") {
						*b = []byte(genKey.Draw(t, "key"))
					}
				}
				if r.AfterKey != nil {
					r.AfterID = genID.Draw(t, "after")
				}
				m.checkIndex(t, genNum.Draw(t, "collection"), genIndex.Draw(t, "index"), r)
			},
			"apply": func(t *rapid.T) {
				m := rapid.SampledFrom(forks).Draw(t, "fork")
				w := kv.WriteSet{Fork: m.state.(kv.Fork)}
				w.Set(kv.AppendRecordKey(nil, 1, 1), []byte("for a log")) // it is in the fork already
				for range rapid.IntRange(0, 4).Draw(t, "rows") {
					key := string(rapid.SampledFrom([]byte("bcs")).Draw(t, "space")) + string([]byte{0, 0, 0, byte(genNum.Draw(t, "number"))})
					if rapid.IntRange(0, 3).Draw(t, "delete") == 0 {
						w.Delete([]byte(key))
						delete(m.rows, key)
						continue
					}
					step++
					m.rows[key] = fmt.Sprint("row ", step)
					w.Set([]byte(key), []byte(m.rows[key]))
				}
				if rapid.IntRange(0, 4).Draw(t, "drop") == 0 {
					num := genNum.Draw(t, "collection")
					w.Drop(kv.IndexSpan(num, 7))
					m.drop(num, 7)
				}
				must2(t, second(s.Apply(ctx, &w)))
				old = append(old, now)
				now = m.clone(s.latest.Load())
				forks = []*storeModel{now.clone(now.state.Fork()), now.clone(now.state.Fork())}
			},
			"": func(t *rapid.T) {
				for _, m := range append(append(old, forks...), now) {
					m.check(t)
				}
				old = old[max(0, len(old)-3):]
				now.state.(*Snapshot).colls.All(func(_ uint32, c *collection) {
					if c.empty() || c.forked || slices.ContainsFunc(c.indexes, func(x index) bool { return x.forked }) {
						t.Fatal("an empty collection, or one that may be changed, is published")
					}
				})
			},
		})
	})
}

func must2(t *rapid.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func second(wait func() error, err error) error {
	if err != nil {
		return err
	}
	return wait()
}

// TestFind: the first entry is found whose key has an Order, whatever is behind it.
func TestFind(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, maker := New().latest.Load().fork(), &tableIndex{}
		var list []entry
		for range rapid.IntRange(0, 100).Draw(t, "n") {
			e := entry{rapid.StringOfN(rapid.RuneFrom([]rune("ab")), 0, 3, -1).Draw(t, "key") + rapid.SampledFrom([]string{"", "|", "|a", "|b"}).Draw(t, "tail"), genID.Draw(t, "id")}
			f.AddEntry(1, 7, []byte(e.key), e.id)
			list = append(list, e)
		}
		slices.SortFunc(list, compareEntries)
		key := rapid.StringOfN(rapid.RuneFrom([]rune("ab")), 0, 3, -1).Draw(t, "order")
		want := storage.RecordID(0)
		// An Order is the beginning of no other one: those that are cannot be looked for.
		for _, e := range list {
			if order := string(maker.Order([]byte(e.key))); order != key && strings.HasPrefix(order, key) {
				t.Skip()
			} else if order == key && want == 0 {
				want = e.id
			}
		}
		if got := f.Find(1, 7, maker, []byte(key)); got != want {
			t.Fatalf("%q is of %d, want %d, in %v", key, got, want, list)
		}
	})
}

// TestWholeTreesOnly: a store of trees refuses to drop what is not one of them, and to
// read or to write records by their keys.
func TestWholeTreesOnly(t *testing.T) {
	t.Parallel()
	s := New()
	w := kv.WriteSet{Fork: s.latest.Load().Fork()}
	w.Fork.SetRecord(1, 5, []byte("123456789"))
	must(t, second(s.Apply(ctx, &w)))
	record, part := kv.AppendRecordKey(nil, 1, 5), kv.AppendEntryKey(nil, 1, 7, []byte("a"), 1)
	for name, d := range map[string]kv.Span{
		"part of an index": {Lo: part, Hi: kv.IndexSpan(1, 7).Hi}, "beginning of an index": {Lo: kv.IndexSpan(1, 7).Lo, Hi: part},
		"records": kv.SpanOf(record[:6]), "two collections": {Lo: kv.DataSpan(1).Lo, Hi: kv.DataSpan(2).Hi}, "everything": kv.SpanOf([]byte("d")), "nothing": {},
	} {
		w := kv.WriteSet{Drops: []kv.Span{kv.DataSpan(1), d}}
		w.Set([]byte("s\x00\x00\x00\x01"), []byte{1})
		if err := second(s.Apply(ctx, &w)); !errors.Is(err, errPart) {
			t.Errorf("%s is dropped: %v", name, err)
		}
	}
	for _, key := range [][]byte{record, part} {
		var w kv.WriteSet
		w.Set([]byte("s\x00\x00\x00\x01"), []byte{1})
		w.Set(key, []byte("123456789"))
		if second(s.Apply(ctx, &w)) == nil {
			t.Errorf("%x is written without a fork", key)
		}
	}
	n := s.latest.Load()
	if n.Record(1, 5) == nil || n.coll(1).stats != nil {
		t.Error("a write set that was refused has changed something")
	}
	for name, d := range map[string]kv.Span{
		"a collection": kv.DataSpan(1), "records": kv.SpanOf(record[:6]), "an index": kv.IndexSpan(1, 7),
		"two spaces": {Lo: []byte("b"), Hi: []byte("d")}, "everything": {}, "no end": {Lo: []byte("c")},
	} {
		if it := n.Scan(ctx, d.Lo, d.Hi, false); it.Next() || !errors.Is(it.Close(), errPart) {
			t.Errorf("%s is scanned", name)
		}
	}
	if _, err := n.Get(ctx, record); !errors.Is(err, errPart) {
		t.Errorf("a record is read by its key: %v", err)
	}
	if err := n.GetMany(ctx, [][]byte{record}, func(int, []byte) bool { return true }); !errors.Is(err, errPart) {
		t.Errorf("records are read by their keys: %v", err)
	}
}

// TestRows: descriptions, statistics and marks are read in the order of their numbers, within
// bounds, in both directions.
func TestRows(t *testing.T) {
	t.Parallel()
	s := New()
	key := func(space byte, num int) []byte { return []byte{space, 0, 0, 0, byte(num)} }
	var w kv.WriteSet
	for _, num := range []int{5, 1, 9, 3} {
		for _, space := range []byte("bcs") {
			w.Set(key(space, num), []byte{space, byte(num)})
		}
	}
	must(t, second(s.Apply(context.Background(), &w)))
	for _, space := range []byte("bcs") {
		for _, reverse := range []bool{false, true} {
			it := s.latest.Load().Scan(ctx, key(space, 3), key(space, 9), reverse)
			var got []int
			for it.Next() {
				v, err := it.Value()
				if err != nil || v[0] != space || v[1] != it.Key()[4] {
					t.Errorf("%x is %x, %v", it.Key(), v, err)
				}
				got = append(got, int(it.Key()[4]))
			}
			want := []int{3, 5}
			if reverse {
				slices.Reverse(want)
			}
			if err := it.Close(); err != nil || !slices.Equal(got, want) {
				t.Errorf("%c, reverse %v: %v, want %v, %v", space, reverse, got, want, err)
			}
		}
	}
	got := 0
	must(t, s.latest.Load().GetMany(ctx, [][]byte{key('c', 1), key('s', 2), key('b', 5), key('s', 9)}, func(i int, v []byte) bool {
		got = got*10 + i
		return i < 2
	}))
	if got != 2 {
		t.Errorf("visited %d", got)
	}
}

// TestValuesAreShared: what is read is the memory that was written, and it does not change
// when the record does.
func TestValuesAreShared(t *testing.T) {
	t.Parallel()
	s := New()
	first, other := []byte("first value"), []byte("other value")
	set := func(v []byte) *Snapshot {
		w := kv.WriteSet{Fork: s.latest.Load().Fork()}
		w.Fork.SetRecord(1, 1, v)
		must(t, second(s.Apply(ctx, &w)))
		return s.latest.Load()
	}
	before, after := set(first), set(other)
	got := before.Record(1, 1)
	if &got[0] != &first[0] || &after.Record(1, 1)[0] != &other[0] || string(got) != "first value" {
		t.Error("values were copied, or have changed")
	}
}
