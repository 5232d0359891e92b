package main

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/value"
)

func newRequest(o loadOptions) *request {
	return &request{opts: o, rnd: rand.New(rand.NewPCG(1, 2)), docs: newDocuments(1, 1, o.DocSize), own: newOwnIDs(0, o)}
}

// TestRequests builds each request several times over, as the memory is
// reused, and checks that it is well-formed.
func TestRequests(t *testing.T) {
	for _, w := range workloads {
		t.Run(w.name, func(t *testing.T) {
			r := newRequest(shortLoad())
			for range 20 {
				w.build(r)
				body := r.body()
				if err := value.Validate(body); err != nil {
					t.Fatal(err)
				}
				if on := body.Lookup("$db").Str(); on != database && (on != "admin" || !body.Has("commitTransaction")) {
					t.Errorf("$db is %q in %x", on, body)
				}
				docs := 0
				for _, s := range r.seqs {
					for d := range s.Docs() {
						docs++
						if err := value.Validate(d); err != nil {
							t.Fatal(err)
						}
					}
				}
				if name, _ := body.First(); name == "insert" && docs != w.docsPerOp(r.opts) {
					t.Errorf("%d documents, want %d", docs, w.docsPerOp(r.opts))
				}
			}
		})
	}
}

func TestRequestContents(t *testing.T) {
	o := shortLoad()
	o.Docs = 1
	for _, c := range []struct{ name, path, want string }{
		{"ping", "ping", "1"},
		{"findOne", "filter._id", "0"},
		{"findOne", "singleBatch", "true"},
		{"findRange", "filter.k.$gte", "0"},
		{"findRange", "filter.k.$lt", "100"},
		{"aggregate", "pipeline.0.$match.k.$lt", "100"},
		{"aggregate", "pipeline.1.$group._id", `"$tag"`},
		{"group", "pipeline.1.$group.mean.$avg", `"$k"`},
		{"lookup", "pipeline.0.$lookup.from", `"docs"`},
		{"insertOneJ", "writeConcern.j", "true"},
		{"updateOne", "updates.0.u.$inc.n", "1"},
		{"findAndModify", "update.$inc.n", "1"},
		{"insertRetryable", "txnNumber", "1"},
		{"transaction", "txnNumber", "1"},
		{"transaction", "startTransaction", "true"},
	} {
		w, err := findWorkload(c.name)
		if err != nil {
			t.Fatal(err)
		}
		r := newRequest(o)
		w.build(r)
		got := value.Document(r.body())
		for part := range strings.SplitSeq(c.path, ".") {
			got = got.Doc().Lookup(part)
		}
		var want value.Value
		switch c.want {
		case "true":
			want = value.Bool(true)
		case "0", "1":
			want = value.Int32(int32(c.want[0] - '0'))
		case "100":
			want = value.Int32(100)
		default:
			want = value.String(strings.Trim(c.want, `"`))
		}
		if value.Compare(got, want) != 0 {
			t.Errorf("%s: %s is %v, want %s", c.name, c.path, got, c.want)
		}
	}
}

func TestUnknownWorkload(t *testing.T) {
	if _, err := findWorkload("nonsense"); err == nil {
		t.Error("found")
	}
}

// TestIdsAreUnique draws ids past the turn of the counter, from two workers.
func TestIdsAreUnique(t *testing.T) {
	seen := make(map[value.OID]bool)
	for worker := range 2 {
		d := newDocuments(1, worker, 0)
		for range 70_000 {
			id := d.fresh(false).Lookup("_id").ObjectID()
			if seen[id] {
				t.Fatalf("%s twice", id.Hex())
			}
			seen[id] = true
		}
	}
}

func TestDocumentSize(t *testing.T) {
	for _, size := range []int{150, 200, 1000, 100_000} {
		d := newDocuments(1, 0, size)
		for _, doc := range []value.Doc{d.stored(7), d.fresh(true)} {
			if off := len(doc) - size; off < -20 || off > 20 {
				t.Errorf("asked for %d bytes, got %d", size, len(doc))
			}
		}
	}
}

func TestListWorkloads(t *testing.T) {
	var out strings.Builder
	if err := (workloadsCommand{}).Run(&out); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n"); n != len(workloads) {
		t.Errorf("%d lines for %d workloads", n, len(workloads))
	}
}

func BenchmarkBuildFindOne(b *testing.B) {
	r := newRequest(shortLoad())
	b.ReportAllocs()
	for b.Loop() {
		buildFindOne(r)
		r.body()
	}
}

func BenchmarkBuildInsertOne(b *testing.B) {
	r := newRequest(shortLoad())
	b.ReportAllocs()
	for b.Loop() {
		buildInsertOne(r)
		r.body()
	}
}
