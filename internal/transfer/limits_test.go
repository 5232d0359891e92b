package transfer_test

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/transfer"
	"github.com/duskdb/duskdb/value"
)

// Fields of CSV as mongoimport reads them: the space around them does not count, quoted
// fields keep theirs within the quotes.
func TestSpacesInCSV(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want []string
	}{
		{"name, qty, note\napple, 5, \"red, ripe\"\n", []string{`2: {"name":"apple","qty":5,"note":"red, ripe"}`}},
		{"a,b\n y z , \"  s \"\n", []string{`2: {"a":"y z","b":"  s "}`}},
		{"a,b\n\t1.5\t,\u00a0x\u00a0\r\n", []string{`2: {"a":1.5,"b":"x"}`}},
		{"a,b\n \"x\" , \"\"\"y\"\"\" \r\n3,4", []string{`2: {"a":"x","b":"\"y\""}`, `3: {"a":3,"b":4}`}},
		{"a,b\n,\n , \n\n", []string{`2: {"a":"","b":""}`, `3: {"a":"","b":""}`}},
		{"a\n  \n\n\r\n1\n", []string{`2: {"a":""}`, `5: {"a":1}`}},
		{"a,b\n\"one\r\ntwo\" ,2\n3,4\n", []string{`2: {"a":"one\ntwo","b":2}`, `4: {"a":3,"b":4}`}},
		{"a,b\n1,2,\n", []string{`2: {"a":1,"b":2,"field2":""}`}},
		{"a,b\nx \"y\" z,1\n2,3\n", []string{`line 2: bare " in non-quoted field`, `3: {"a":2,"b":3}`}},
		{"a,b\n\"x\" y,1\n2,3\n", []string{`line 2: extraneous or missing " in quoted-field`, `3: {"a":2,"b":3}`}},
		{"a,b\n\"x\" \"y\",1\n2,3\n", []string{`line 2: extraneous or missing " in quoted-field`, `3: {"a":2,"b":3}`}},
		{"a,b\n1,2\n\"open,\n3,4\n", []string{`2: {"a":1,"b":2}`, `line 3: extraneous or missing " in quoted-field`}},
	} {
		s, err := transfer.NewTable(strings.NewReader(tt.in), transfer.Table{})
		if err != nil {
			t.Fatal(err)
		}
		if got := read(t, s); !slices.Equal(got, tt.want) {
			t.Errorf("%q:\n%s\nwant\n%s", tt.in, strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
		}
	}
	s, err := transfer.NewTable(strings.NewReader("a\tb\n 1\t \"x\" \n"), transfer.Table{Tabs: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, s); !slices.Equal(got, []string{`2: {"a":" 1","b":" \"x\" "}`}) { // as in mongoimport
		t.Errorf("TSV: %s", got)
	}
}

// endless is a file of so many bytes that repeats a text after its beginning, packed or not.
func endless(t *testing.T, begin, text string, size int64, packed bool) io.Reader {
	plain := io.LimitReader(io.MultiReader(strings.NewReader(begin), &repeating{text: strings.Repeat(text, 1<<16/len(text))}), size)
	if !packed {
		return plain
	}
	r, w := io.Pipe()
	t.Cleanup(func() { _ = r.Close() })
	go func() {
		z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
		_, err := io.Copy(z, plain)
		_ = w.CloseWithError(errors.Join(err, z.Close()))
	}()
	return r
}

type repeating struct {
	text string
	at   int
}

func (r *repeating) Read(b []byte) (n int, _ error) {
	for n < len(b) {
		c := copy(b[n:], r.text[r.at:])
		n, r.at = n+c, (r.at+c)%len(r.text)
	}
	return n, nil
}

// Whatever a file contains, reading takes memory within the limits, and ends.
func TestLimits(t *testing.T) {
	table := func(o transfer.Table) func(io.Reader) (transfer.Source, error) {
		return func(r io.Reader) (transfer.Source, error) {
			r, err := transfer.Text(r)
			if err != nil {
				return nil, err
			}
			return transfer.NewTable(r, o)
		}
	}
	json := func(r io.Reader) (transfer.Source, error) {
		r, err := transfer.Text(r)
		return transfer.NewJSON(r), err
	}
	bson := func(r io.Reader) (transfer.Source, error) {
		r, err := transfer.Decompress(r)
		return transfer.NewBSON(r), err
	}
	names := strings.Repeat("c,", 150000) + "c"
	deep := strings.Repeat("a.", 1<<20) + "a"
	for _, tt := range []struct {
		name, begin, text string
		open              func(io.Reader) (transfer.Source, error)
		want              string // in an error
	}{
		{"CSV line", "a,b\n", "x", table(transfer.Table{}), "the line has more than 33554432 bytes"},
		{"CSV header", "", "x", table(transfer.Table{}), "the line has more than 33554432 bytes"},
		{"quoted CSV", "a,b\n\"", "x\n", table(transfer.Table{}), "the line has more than 33554432 bytes"},
		{"CSV columns", names + "\n", "x", table(transfer.Table{}), "more than 100000 columns"},
		{"CSV fields", "a\n" + strings.Repeat(",", 1<<20) + "\n", "1\n", table(transfer.Table{}), "more than 100000 columns"},
		{"TSV line", "a\tb\n", "x", table(transfer.Table{Tabs: true}), "the line has more than 33554432 bytes"},
		{"TSV fields", "a\n" + strings.Repeat("\t", 1<<20) + "\n", "1\n", table(transfer.Table{Tabs: true}), "more than 100000 columns"},
		{"column's depth", deep + "\n", "1\n", table(transfer.Table{}), "nested deeper than 200 levels"},
		{"JSON text", `{"a":1`, " ", json, "bytes of text"},
		{"JSON string", `{"a":"`, "x", json, "a string of more than 25165824 bytes"},
		{"JSON escapes", `{"a":"`, `\"`, json, "a string of more than 25165824 bytes"},
		{"JSON name", `{"`, "x", json, "a string of more than 25165824 bytes"},
		{"JSON depth", `{"a":`, "[", json, "nested deeper than 200 levels"},
		{"JSON documents in documents", ``, `{"a":`, json, "nested deeper than 200 levels"},
		{"JSON elements", `{"a":[1`, ",1", json, "more than 2621440 elements"},
		{"BSON length", "\xff\xff\xff\x7f", "x", bson, "invalid length"},
		{"BSON depth", "", "\x40\x00\x00\x01\x04\x00", bson, "document 1"},
	} {
		for _, packed := range []bool{false, true} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := firstError(tt.open(endless(t, tt.begin, tt.text, 300<<20, packed)))
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s, packed %v: %.200v", tt.name, packed, err)
			}
			if err != nil && len(err.Error()) > 1000 {
				t.Errorf("%s: an error of %d bytes", tt.name, len(err.Error()))
			}
			if spent := (after.TotalAlloc - before.TotalAlloc) >> 20; spent > 800 {
				t.Errorf("%s, packed %v: %d MB", tt.name, packed, spent)
			}
		}
	}
}

// firstError reads a source up to its first error.
func firstError(s transfer.Source, err error) error {
	for n := 0; err == nil && n < 1000; n++ {
		_, _, err = s.Next()
	}
	return err
}

// The time for a record grows with its columns, not with their square.
func TestManyColumns(t *testing.T) {
	const n = 90000
	var names, values strings.Builder
	for i := range n {
		fmt.Fprintf(&names, ",c%d", i)
		fmt.Fprintf(&values, ",%d", i)
	}
	s, err := transfer.NewTable(strings.NewReader(names.String()[1:]+"\n"+values.String()[1:]+"\n"), transfer.Table{})
	if err != nil {
		t.Fatal(err)
	}
	doc, _, err := s.Next()
	if err != nil || value.Validate(doc) != nil || doc.Len() != n {
		t.Errorf("%d fields, %v", doc.Len(), err)
	}
}
