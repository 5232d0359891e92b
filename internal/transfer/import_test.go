package transfer_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/duskdb/duskdb/internal/transfer"
	"github.com/duskdb/duskdb/servertest"
	"github.com/duskdb/duskdb/value"
	"github.com/duskdb/duskdb/wire"
)

// scene is a server and a connection to it.
type scene struct {
	*servertest.Server
	conn *transfer.Conn
}

func newScene(t *testing.T) scene {
	t.Helper()
	srv := servertest.Run(t)
	conn, err := transfer.Dial(srv.URI(), 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return scene{srv, conn}
}

// load imports lines of JSON and returns the result and what was complained of.
func (s scene) load(t *testing.T, text string, o transfer.ImportOptions) (transfer.Result, []string, error) {
	t.Helper()
	var complaints []string
	o.Database, o.Collection = "test", "c"
	o.OnError = func(err error) { complaints = append(complaints, err.Error()) }
	res, err := transfer.Import(s.conn, transfer.NewJSON(strings.NewReader(text)), o)
	return res, complaints, err
}

func TestImportModes(t *testing.T) {
	const stored = `{"_id":1,"a":1,"k":"x"}` + "\n" + `{"_id":2,"a":2,"k":"y"}`
	tests := []struct {
		name, in string
		o        transfer.ImportOptions
		want     string
		failed   int
	}{
		{"insert", `{"_id":3}`, transfer.ImportOptions{}, `{"_id":1,"a":1,"k":"x"} {"_id":2,"a":2,"k":"y"} {"_id":3}`, 0},
		{"duplicate", `{"_id":2} {"_id":3}`, transfer.ImportOptions{}, `{"_id":1,"a":1,"k":"x"} {"_id":2,"a":2,"k":"y"} {"_id":3}`, 1},
		{"drop", `{"_id":3}`, transfer.ImportOptions{Drop: true}, `{"_id":3}`, 0},
		{"upsert", `{"_id":2,"b":1} {"_id":3}`, transfer.ImportOptions{Mode: transfer.Upsert}, `{"_id":1,"a":1,"k":"x"} {"_id":2,"b":1} {"_id":3}`, 0},
		{"merge", `{"_id":2,"b":1} {"_id":3}`, transfer.ImportOptions{Mode: transfer.Merge}, `{"_id":1,"a":1,"k":"x"} {"_id":2,"a":2,"k":"y","b":1} {"_id":3}`, 0},
		{"upsert by field", `{"k":"x","n":1}`, transfer.ImportOptions{Mode: transfer.Upsert, UpsertFields: []string{"k"}}, `{"_id":1,"k":"x","n":1} {"_id":2,"a":2,"k":"y"}`, 0},
		{"upsert without the field", `{"_id":3}`, transfer.ImportOptions{Mode: transfer.Upsert, UpsertFields: []string{"k"}}, `{"_id":1,"a":1,"k":"x"} {"_id":2,"a":2,"k":"y"} {"_id":3}`, 0},
		{"delete", `{"_id":2} {"_id":7}`, transfer.ImportOptions{Mode: transfer.Delete}, `{"_id":1,"a":1,"k":"x"}`, 0},
		{"delete without the field", `{"a":2}`, transfer.ImportOptions{Mode: transfer.Delete}, `{"_id":1,"a":1,"k":"x"} {"_id":2,"a":2,"k":"y"}`, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t)
			if _, _, err := s.load(t, stored, transfer.ImportOptions{}); err != nil {
				t.Fatal(err)
			}
			res, _, err := s.load(t, tt.in, tt.o)
			if err != nil || res.Failed != tt.failed {
				t.Errorf("result %+v, %v", res, err)
			}
			if got := strings.Join(strings.Fields(s.Dump("test.c")), " "); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestImportNamesLines(t *testing.T) {
	const text = "{\"_id\":1}\nx\n{\"_id\":1}\n{\"_id\":4}\n"
	s := newScene(t)
	res, complaints, err := s.load(t, text, transfer.ImportOptions{})
	if err != nil || res != (transfer.Result{Imported: 2, Failed: 2}) {
		t.Errorf("result %+v, %v", res, err)
	}
	if len(complaints) != 2 || !strings.HasPrefix(complaints[0], "line 2: ") || !strings.HasPrefix(complaints[1], "line 3: E11000 duplicate key") {
		t.Errorf("complaints: %q", complaints)
	}
}

// The documents of BSON have numbers, not lines.
func TestImportNamesDocuments(t *testing.T) {
	s := newScene(t)
	doc := func(id int32, n int) string {
		return string(value.NewDoc("_id", value.Int32(id), "pad", value.String(strings.Repeat("x", n))))
	}
	var got []string
	_, err := transfer.Import(s.conn, transfer.NewBSON(strings.NewReader(doc(1, 1)+doc(1, 1)+doc(3, 16<<20))), transfer.ImportOptions{
		Database: "test", Collection: "c", OnError: func(err error) { got = append(got, err.Error()) },
	})
	slices.Sort(got)
	if want := []string{"document 2: E11000 duplicate key", "document 3: the document has "}; err != nil || !slices.EqualFunc(got, want, strings.HasPrefix) {
		t.Errorf("%q, %v", got, err)
	}
	_, err = transfer.Import(s.conn, transfer.NewBSON(strings.NewReader(doc(1, 1)+doc(2, 1))), transfer.ImportOptions{Database: "test", Collection: "$"})
	if err == nil || !strings.HasPrefix(err.Error(), "documents 1 to 2: ") {
		t.Errorf("a batch that is refused: %v", err)
	}
}

// A document that is too large is one that failed, as any other.
func TestImportTooLarge(t *testing.T) {
	s := newScene(t)
	text := `{"_id":1}` + "\n" + `{"_id":2,"s":"` + strings.Repeat("x", 16<<20) + `"}` + "\n" + `{"_id":3}`
	for _, mode := range []transfer.Mode{transfer.Insert, transfer.Upsert} {
		res, complaints, err := s.load(t, text, transfer.ImportOptions{Mode: mode, Drop: true})
		if err != nil || res != (transfer.Result{Imported: 2, Failed: 1}) || len(complaints) != 1 ||
			complaints[0] != "line 2: the document has 16777238 bytes; the limit is 16777216" {
			t.Errorf("%s: %+v, %q, %v", mode, res, complaints, err)
		}
	}
}

func TestImportStops(t *testing.T) {
	for _, text := range []string{"{\"_id\":1}\nx\n{\"_id\":3}\n", "{\"_id\":1}\n{\"_id\":1}\n{\"_id\":3}\n"} {
		s := newScene(t)
		res, complaints, err := s.load(t, text, transfer.ImportOptions{StopOnError: true})
		if !errors.Is(err, transfer.ErrStopped) || res != (transfer.Result{Imported: 1, Failed: 1}) || len(complaints) != 1 {
			t.Errorf("%q: %+v, %q, %v", text, res, complaints, err)
		}
		if got := s.Dump("test.c"); got != "{\"_id\":1}\n" {
			t.Errorf("%q leaves %s", text, got)
		}
	}
}

func TestImportBatches(t *testing.T) {
	s := newScene(t)
	res, _, err := s.load(t, strings.Repeat("{\"a\":\"x\"}\n", 2500), transfer.ImportOptions{})
	if err != nil || res.Imported != 2500 {
		t.Errorf("result %+v, %v", res, err)
	}
}

func TestExport(t *testing.T) {
	s := newScene(t)
	if _, _, err := s.load(t, `{"_id":1,"a":{"b":"x,y"},"d":{"$date":"2026-01-01T00:00:00Z"}} {"_id":2,"l":[1,2]} {"_id":{"$numberLong":"3"}}`, transfer.ImportOptions{}); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		o    transfer.ExportOptions
		want string
	}{
		{"lines", transfer.ExportOptions{Fields: []string{"_id"}}, "{\"_id\":1}\n{\"_id\":2}\n{\"_id\":3}\n"},
		{"array", transfer.ExportOptions{Array: true, Query: value.MustJSON(`{"_id":{"$gte":2}}`)}, "[{\"_id\":2,\"l\":[1,2]},\n{\"_id\":3}]\n"},
		{"empty array", transfer.ExportOptions{Array: true, Query: value.MustJSON(`{"_id":9}`)}, "[]\n"},
		{"sort, skip, limit", transfer.ExportOptions{Sort: value.MustJSON(`{"_id":-1}`), Skip: 1, Limit: 1}, "{\"_id\":2,\"l\":[1,2]}\n"},
		{"canonical", transfer.ExportOptions{Canonical: true, Skip: 2}, "{\"_id\":{\"$numberLong\":\"3\"}}\n"},
		{"CSV", transfer.ExportOptions{CSV: true, Fields: []string{"_id", "a.b", "d", "l"}},
			"_id,a.b,d,l\n1,\"x,y\",2026-01-01T00:00:00Z,\n2,,,\"[1,2]\"\n3,,,\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.o.Database, tt.o.Collection = "test", "c"
			var out bytes.Buffer
			if _, err := transfer.Export(s.conn, &out, tt.o); err != nil {
				t.Fatal(err)
			}
			if out.String() != tt.want {
				t.Errorf("got\n%s\nwant\n%s", out.String(), tt.want)
			}
		})
	}
}

// What is exported and imported again is the same.
func TestRoundTrip(t *testing.T) {
	s := newScene(t)
	if _, _, err := s.load(t, strings.Repeat(`{"a":{"$numberLong":"1"},"b":[{"c":{"$numberDecimal":"1.10"}}]}`+"\n", 250), transfer.ImportOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, array := range []bool{false, true} {
		var out bytes.Buffer
		n, err := transfer.Export(s.conn, &out, transfer.ExportOptions{Database: "test", Collection: "c", Canonical: true, Array: array})
		if err != nil || n != 250 {
			t.Fatalf("%d documents, %v", n, err)
		}
		before := s.Dump("test.c")
		if _, _, err := s.load(t, out.String(), transfer.ImportOptions{Drop: true}); err != nil {
			t.Fatal(err)
		}
		if after := s.Dump("test.c"); after != before || !slices.Contains(strings.Split(after, "\n"), "") {
			t.Error("the documents differ")
		}
	}
}

// refusing answers each insert with one error for every document.
type refusing struct {
	code     int32
	commands int
}

func (r *refusing) Run(_ value.Doc, sequences ...wire.Sequence) (value.Doc, error) {
	r.commands++
	b := value.NewBuilder().StartArray("writeErrors")
	n := int32(0)
	for range sequences[0].Docs() {
		b.StartDocument("").Int32("index", n).Int32("code", r.code).String("errmsg", "refused").End()
		n++
	}
	return b.End().Double("ok", 1).Doc(), nil
}

// An error that is about the server and not about a document ends the import:
// no later document would fare better.
func TestImportStopsWhenTheServerRefuses(t *testing.T) {
	text := strings.Repeat("{}\n", 5000)
	for code, stops := range map[int32]bool{11000: false, 146: true, 14031: true, 13: true, 121: false} {
		r := &refusing{code: code}
		res, err := transfer.Import(r, transfer.NewJSON(strings.NewReader(text)), transfer.ImportOptions{Database: "test", Collection: "c"})
		if (err != nil) != stops || (r.commands == 1) != stops || res.Imported != 0 {
			t.Errorf("code %d: %d commands, %+v, %v", code, r.commands, res, err)
		}
	}
}
