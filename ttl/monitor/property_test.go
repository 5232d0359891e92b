package monitor

import (
	"github.com/duskdb/duskdb/ttl"

	"context"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// fixedClock stands at an instant that a manual clock could not be moved to.
type fixedClock struct {
	*clock.Manual
	at int64
}

func (c fixedClock) NowMillis() int64 { return c.at }

func mustPassRapid(t *rapid.T, m *Monitor) Result {
	r, err := m.RunPass(context.Background(), ttl.All)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// modelDoc is a document as a reader of the specification sees it.
type modelDoc struct {
	written int64
	doc     value.Doc
}

// expired applies the rules of a TTL index on x, another on y descending,
// and of document TTL, one document at a time.
func (d modelDoc) expired(now, x, y int64, document *int64) bool {
	for path, e := range map[string]int64{"x": x, "y": y} {
		v := d.doc.Lookup(path)
		dates := []value.Value{v}
		if v.Kind() == value.KindArray {
			dates = nil
			for e := range v.Doc().Values() {
				dates = append(dates, e)
			}
		}
		for _, date := range dates {
			if date.Kind() == value.KindDateTime && date.DateTime() <= now-e*1000 {
				return true
			}
		}
	}
	if document == nil {
		return false
	}
	life := *document
	switch v := d.doc.Lookup("ttl"); v.Kind() {
	case value.KindInt32, value.KindInt64, value.KindDouble:
		if f := v.AsDouble(); f == float64(int64(f)) && (f == -1 || f > 0 && f <= 2147483647) {
			life = int64(f)
		}
	}
	return life != -1 && (floorSeconds(d.written)+life)*1000 <= now
}

func genDates(t *rapid.T, now int64) string {
	date := func() string {
		return fmt.Sprintf(`{"$date":{"$numberLong":"%d"}}`, now+rapid.Int64Range(-100_000, 20_000).Draw(t, "date"))
	}
	switch rapid.IntRange(0, 5).Draw(t, "shape") {
	case 0:
		return `"text"`
	case 1:
		return `[` + date() + `,` + date() + `,5]`
	case 2:
		return `[]`
	case 3:
		return `null`
	}
	return date()
}

// Writes, policy changes and clock moves at random, compared with a naive
// model after each pass.
func TestModel(t *testing.T) {
	outer := t
	rapid.Check(t, func(t *rapid.T) {
		h := newHost(outer)
		h.params.DeleteTargetDocs = int64(rapid.IntRange(0, 5).Draw(t, "targetDocs"))
		h.params.SubPassTargetSecs = int64(rapid.IntRange(0, 1).Draw(t, "subPass"))
		clk := clock.NewManual(t0)
		m := New(h, Options{Clock: clk, Real: clk, Batch: rapid.IntRange(1, 4).Draw(t, "batch")})
		seconds := rapid.Int64Range(0, 60)
		x, y := seconds.Draw(t, "x"), seconds.Draw(t, "y")
		c := h.create(t, "c", `{}`, ttl.DocumentIndexes(),
			fmt.Sprintf(`{"key":{"x":1},"name":"x_1","expireAfterSeconds":%d}`, x),
			fmt.Sprintf(`{"key":{"y":-1},"name":"y_-1","expireAfterSeconds":%d}`, y))
		model := map[storage.RecordID]modelDoc{}
		var document *int64
		t.Repeat(map[string]func(*rapid.T){
			"insert": func(t *rapid.T) {
				now := clk.NowMillis()
				life := rapid.SampledFrom([]string{`1`, `30`, `-1`, `0`, `20.5`, `10.0`, `"5"`, `null`}).Draw(t, "ttl")
				d := value.MustJSON(fmt.Sprintf(`{"x":%s,"y":%s,"ttl":%s}`, genDates(t, now), genDates(t, now), life))
				model[c.Insert(now, d)] = modelDoc{now, d}
			},
			"policy": func(t *rapid.T) {
				// Finality: what has expired goes before the change.
				remove := func(storage.Record, *ttl.Expired) error { return nil }
				c.Update(func(coll storage.Collection) error {
					_, err := rulesOf(coll.Info()).Purge(coll, clk.NowMillis(), remove)
					return err
				})
				for id, d := range model {
					if d.expired(clk.NowMillis(), 1e9, 1e9, document) {
						delete(model, id)
					}
				}
				n := rapid.SampledFrom([]int64{0, -1, 1, 10, 60}).Draw(t, "default")
				document = &n
				if n == 0 {
					document = nil
					c.SetOptions(`{}`)
					return
				}
				c.SetOptions(fmt.Sprintf(`{"documentTtl":{"default":%d,"invalid":"ignore"}}`, n))
			},
			"advance": func(t *rapid.T) { _ = clk.AdvanceMillis(rapid.Int64Range(0, 30_000).Draw(t, "ms")) },
			"pass": func(t *rapid.T) {
				mustPassRapid(t, m)
				now, left := clk.NowMillis(), c.Records()
				for id, d := range model {
					_, there := left[id]
					if there == d.expired(now, x, y, document) {
						t.Fatalf("%s written at %d: is there: %v", d.doc, d.written, there)
					}
					if !there {
						delete(model, id)
					}
				}
				if len(model) != c.Count() {
					t.Fatalf("%d documents, want %d", c.Count(), len(model))
				}
			},
			"visible": func(t *rapid.T) {
				var p *ttl.DocumentPolicy
				if rules := rulesOf(c.Info()); rules != nil {
					p = rules.Document
				}
				left := c.Records()
				for id, d := range model {
					r := left[id]
					if p.Visible(&r, clk.NowMillis()) == d.expired(clk.NowMillis(), 1e9, 1e9, document) {
						t.Fatalf("%s written at %d", d.doc, d.written)
					}
				}
			},
		})
	})
}
