package observe_test

import (
	"errors"
	"testing"
	"time"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/observe"
	"github.com/duskdb/duskdb/storage"
)

// What each command counts as in top. Reads take mongod's read lock, writes the write
// lock, and the total has both.
func TestUsageParts(t *testing.T) {
	for command, want := range map[string]string{
		"find": "total readLock queries", "getMore": "total readLock getmore",
		"insert": "total writeLock insert", "update": "total writeLock update", "delete": "total writeLock remove",
		"aggregate": "total readLock commands", "count": "total readLock commands",
	} {
		var u observe.Usage
		c := u.Of("d.c", func() bool { return true })
		c.Note(command, 3*time.Millisecond)
		c.Note(command, 4*time.Millisecond)
		got := ""
		for _, part := range observe.TopParts {
			switch count, micros := c.Part(part); {
			case count == 2 && micros == 7000:
				got += " " + part
			case count != 0 || micros != 0:
				t.Errorf("%s: %s has %d in %d µs", command, part, count, micros)
			}
		}
		if got != " "+want {
			t.Errorf("%s counts as%s, want %s", command, got, want)
		}
		locks, commands := c.Reads.Histogram.Total()+c.Writes.Histogram.Total(), c.Commands.Histogram.Total()
		if isCommand := command == "aggregate" || command == "count"; locks != 2 || (commands == 2) != isCommand {
			t.Errorf("%s: histograms of %d and %d", command, locks, commands)
		}
	}
}

// Collections are listed by name; what does not exist is not kept.
func TestUsageList(t *testing.T) {
	var u observe.Usage
	for _, ns := range []string{"d.b", "d.a", "c.z", "d.a", "d.\x00", "d.absent"} {
		exists := ns != "d.\x00" && ns != "d.absent"
		if c := u.Of(ns, func() bool { return exists }); c != nil {
			c.Note("find", time.Millisecond)
		} else if exists {
			t.Errorf("%s is not counted", ns)
		}
	}
	got := ""
	for _, c := range u.List() {
		n, _ := c.Part("queries")
		got += " " + c.Namespace + map[int64]string{1: "", 2: " twice"}[n]
	}
	if got != " c.z d.a twice d.b" {
		t.Errorf("listed%s", got)
	}
}

// TestUsageForget: who holds the counters of a collection that is gone learns so, and the next
// collection of that name begins at zero.
func TestUsageForget(t *testing.T) {
	var u observe.Usage
	exists := func() bool { return true }
	c := u.Of("d.c", exists)
	c.Note("find", time.Millisecond)
	u.Forget("d.c")
	u.Forget("d.c")
	if !c.Gone() || u.Find("d.c") != nil || len(u.List()) != 0 {
		t.Errorf("gone: %v, listed: %d", c.Gone(), len(u.List()))
	}
	if n, _ := u.Of("d.c", exists).Part("queries"); n != 0 || u.Find("d.c").Gone() {
		t.Errorf("the next one begins at %d", n)
	}
}

func TestCommandCounters(t *testing.T) {
	var m observe.Metrics
	m.Command("find").Total.Add(2)
	m.Command("find").Failed.Add(1)
	if c := m.Command("find"); c.Total.Load() != 2 || c.Failed.Load() != 1 || m.Command("insert").Total.Load() != 0 {
		t.Errorf("%d, %d failed", c.Total.Load(), c.Failed.Load())
	}
}

var errUnreadable = errors.New("unreadable")

// unreadable is a collection whose index on a cannot be read.
type unreadable struct{ storage.Collection }

func (u unreadable) IndexStats(name string) (storage.IndexStats, error) {
	if name == "a" {
		return storage.IndexStats{}, errUnreadable
	}
	return u.Collection.IndexStats(name)
}

// The bytes of indexes are those of all that listIndexes shows.
func TestIndexBytes(t *testing.T) {
	h := harness.New(t)
	h.OK(`{create: "c"}`)
	sizes := func() (all int64, byName map[string]int64) {
		byName = map[string]int64{}
		listed := harness.Docs(h.OK(`{listIndexes: "c"}`))
		err := h.Svc.Engine.View(h.Context(), func(tx storage.Tx) error {
			coll, err := tx.Collection(storage.Namespace{DB: "test", Coll: "c"})
			if err != nil {
				return err
			}
			if all, err = observe.IndexBytes(coll); err != nil {
				return err
			}
			if n, err := observe.IndexBytes(unreadable{coll}); n != 0 || !errors.Is(err, errUnreadable) {
				t.Errorf("of an index that cannot be read: %d, %v", n, err)
			}
			for _, d := range listed {
				st, err := coll.IndexStats(d.Lookup("name").Str())
				if err != nil {
					return err
				}
				byName[d.Lookup("name").Str()] = st.Bytes
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return all, byName
	}
	h.OK(`{createIndexes: "c", indexes: [{key: {a: 1}, name: "a"}]}`)
	h.OK(`{insert: "c", documents: [{_id: 1, a: "xyz"}]}`)
	all, byName := sizes()
	if len(byName) != 2 || byName["a"] == 0 || byName["_id_"] == 0 || all != byName["a"]+byName["_id_"] {
		t.Errorf("%d bytes, want the sum of %v", all, byName)
	}
}
