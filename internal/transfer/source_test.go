package transfer_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/transfer"
)

// read takes everything from a source: documents as "line: JSON", errors as
// they are.
func read(t *testing.T, s transfer.Source) (out []string) {
	t.Helper()
	for range 1000 {
		doc, line, err := s.Next()
		var bad *transfer.LineError
		switch {
		case errors.Is(err, io.EOF):
			return out
		case errors.As(err, &bad):
			out = append(out, err.Error())
		case err != nil:
			return append(out, "end: "+err.Error())
		default:
			out = append(out, fmt.Sprintf("%d: %s", line, doc.JSON()))
		}
	}
	t.Fatal("the source has no end")
	return nil
}

func TestJSON(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string
	}{
		{"empty", "", nil},
		{"empty array", " [ ] \n", nil},
		{"lines", "{\"a\":1}\n{\"a\":{\"$numberLong\":\"2\"}}\n", []string{`1: {"a":1}`, `2: {"a":2}`}},
		{"byte order mark", "\ufeff{\"a\":1}", []string{`1: {"a":1}`}},
		{"without breaks", `{"a":1}{"a":2} {"a":3}`, []string{`1: {"a":1}`, `1: {"a":2}`, `1: {"a":3}`}},
		{"over lines", "{\n \"a\": [\n  {\"b\":1}\n ]\n}\n{\"c\":\"}\\\"{\"}", []string{`1: {"a":[{"b":1}]}`, `6: {"c":"}\"{"}`}},
		{"array", "[{\"a\":1},\n{\"a\":2}]\n", []string{`1: {"a":1}`, `2: {"a":2}`}},
		{"types", `{"d":{"$date":"2026-01-01T00:00:00Z"},"i":{"$oid":"0123456789abcdef01234567"}}`,
			[]string{`1: {"d":{"$date":"2026-01-01T00:00:00Z"},"i":{"$oid":"0123456789abcdef01234567"}}`}},
		{"bad line", "{\"a\":1}\nnonsense\n{\"a\":3}\n", []string{`1: {"a":1}`, "line 2: expected a document, which begins with {, not 'n'", `3: {"a":3}`}},
		{"unfinished", "{\"a\":1\n{\"a\":2}\n", []string{"line 1: the document is incomplete: a } is missing", `2: {"a":2}`}},
		{"unfinished string", "{\"a\":\"x\n{\"a\":2}\n", []string{"line 1: the document is incomplete: a \" is missing", `2: {"a":2}`}},
		{"end within", `{"a":1`, []string{"line 1: the file ends before the document does"}},
		{"open array", "[{\"a\":1},\n", []string{`1: {"a":1}`, "line 2: the file ends before the array does"}},
		{"no comma", "[{\"a\":1}\n{\"a\":2}]", []string{`1: {"a":1}`, "line 2: expected a comma or ] between documents, not '{'", "line 2: the file ends before the array does"}},
		{"no JSON", "{a:1}\n{\"a\":NaN}\n", []string{"line 1: invalid character 'a' looking for beginning of object key string", "line 2: invalid character 'N' looking for beginning of value"}},
		{"not UTF-8", "{\"a\":\"\xff\"}\n{\"a\":2}\n", []string{"line 1: the document is not in UTF-8", `2: {"a":2}`}},
		{"after the array", "[] {}", []string{"line 1: '{' after the end of the array"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := read(t, transfer.NewJSON(strings.NewReader(tt.in))); !slices.Equal(got, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

func TestBadJSONNamesItsLine(t *testing.T) {
	got := read(t, transfer.NewJSON(strings.NewReader("{\"a\":1}\n{\"a\":x}\n{\"a\":3}")))
	if len(got) != 3 || !strings.HasPrefix(got[1], "line 2: ") || got[2] != `3: {"a":3}` {
		t.Errorf("got %q", got)
	}
}

func TestTable(t *testing.T) {
	tests := []struct {
		name, in string
		table    transfer.Table
		want     []string
	}{
		{"header", "a,b.c,b.d\n1,x,2.5\n3000000000,,0\n", transfer.Table{},
			[]string{`2: {"a":1,"b":{"c":"x","d":2.5}}`, `3: {"a":3000000000,"b":{"c":"","d":0}}`}},
		{"quoted", "a\n\"x,\"\"y\"\"\nz\"\nlast\n", transfer.Table{}, []string{`2: {"a":"x,\"y\"\nz"}`, `4: {"a":"last"}`}},
		{"fields", "1,2,3\n", transfer.Table{Fields: []string{"a", "b"}}, []string{`1: {"a":1,"b":2,"field2":3}`}},
		{"blanks", "a,b\n,1\n", transfer.Table{IgnoreBlanks: true}, []string{`2: {"b":1}`}},
		{"short record", "a,b\n1\n", transfer.Table{}, []string{`2: {"a":1}`}},
		{"tabs", "a\tb\r\n\"x\t1\r\n", transfer.Table{Tabs: true}, []string{`2: {"a":"\"x","b":1}`}},
		{"bad quote", "a\n\"x\"y\nz\n", transfer.Table{}, []string{`line 2: extraneous or missing " in quoted-field`, `3: {"a":"z"}`}},
		{"types", "n.int32(),s.string(),d.date(2006-01-02),b.boolean(),x.decimal(),h.binary(hex)\n7,7,2026-01-02,true,1.10,00ff\nx,,,,,\n", transfer.Table{Typed: true},
			[]string{`2: {"n":7,"s":"7","d":{"$date":"2026-01-02T00:00:00Z"},"b":true,"x":{"$numberDecimal":"1.10"},"h":{"$binary":{"base64":"AP8=","subType":"00"}}}`,
				`line 3: column "n": "x" is not an int32`}},
		{"dates", "m.date_ms(dd.MM.yyyy HH:mm:ss),o.date_oracle(YYYY-MM-DD HH24:MI:SS),g.date_go(2006-01-02)\n31.12.2025 23:59:58,2025-12-31 23:59:58,2025-12-31\n", transfer.Table{Typed: true},
			[]string{`2: {"m":{"$date":"2025-12-31T23:59:58Z"},"o":{"$date":"2025-12-31T23:59:58Z"},"g":{"$date":"2025-12-31T00:00:00Z"}}`}},
		{"arrays", "a.0,a.1.x,a.1.y,b.0\n1,2,3,4\n", transfer.Table{Arrays: true}, []string{`2: {"a":[1,{"x":2,"y":3}],"b":[4]}`}},
		{"arrays with blanks", "a.0,a.1,b.0\n,2,\n", transfer.Table{Arrays: true, IgnoreBlanks: true}, []string{`2: {"a":[2]}`}},
		{"numbers are names", "a.0,a.1\n1,2\n", transfer.Table{}, []string{`2: {"a":{"0":1,"1":2}}`}},
		{"not UTF-8", "a\n\xff\nb\n", transfer.Table{}, []string{`line 2: column "a": "\xff" is not UTF-8`, `3: {"a":"b"}`}},
		{"grace: autoCast", "n.int32(),s.string()\nx,y\n", transfer.Table{Typed: true, Grace: transfer.AutoCast}, []string{`2: {"n":"x","s":"y"}`}},
		{"grace: skipField", "n.int32(),s.string()\nx,y\n", transfer.Table{Typed: true, Grace: transfer.SkipField}, []string{`2: {"s":"y"}`}},
		{"grace: skipRow", "n.int32(),s.string()\nx,y\n1,z\n", transfer.Table{Typed: true, Grace: transfer.SkipRow}, []string{`line 2: column "n": "x" is not an int32`, `3: {"n":1,"s":"z"}`}},
		{"empty", "", transfer.Table{}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := transfer.NewTable(strings.NewReader(tt.in), tt.table)
			if err != nil {
				t.Fatal(err)
			}
			if got := read(t, s); !slices.Equal(got, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

func TestColumnErrors(t *testing.T) {
	for _, tt := range []struct {
		names string
		typed bool
	}{{"a,", false}, {"a,b,a", false}, {"a,a.b", false}, {"a.b,a", false}, {"$a", false}, {"a..b", false}, {"a", true}, {"a.int7()", true}, {"a.date()", true}, {"a.int32(x)", true}, {"a.binary(rot13)", true}, {strings.Repeat("a.", 300) + "a", false}, {strings.Repeat("a.", 1_000_000) + "a", false}} {
		if _, err := transfer.NewTable(strings.NewReader(tt.names+"\n"), transfer.Table{Typed: tt.typed}); err == nil {
			t.Errorf("columns %q are accepted", tt.names)
		}
	}
}

func TestColumnsOfArrays(t *testing.T) {
	for _, names := range []string{"a.1", "a.0,a.2", "a.0,a.b", "a.b,a.0", "a.0,a.1,a.0"} {
		if _, err := transfer.NewTable(strings.NewReader(names+"\n"), transfer.Table{Arrays: true}); err == nil {
			t.Errorf("columns %q are accepted", names)
		}
	}
}

func TestBSON(t *testing.T) {
	good := "\x0c\x00\x00\x00\x10a\x00\x01\x00\x00\x00\x00"
	got := read(t, transfer.NewBSON(strings.NewReader(good+"\x06\x00\x00\x00\x10\x00"+good+"\x04")))
	if len(got) != 4 || got[0] != `1: {"a":1}` || !strings.HasPrefix(got[1], "document 2: ") || got[2] != `3: {"a":1}` || !strings.HasPrefix(got[3], "end: ") {
		t.Errorf("got %q", got)
	}
}

// A source ends on any input, and never panics.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{"", "[]", `[{"a":1},{"b":2}]`, "{}\n{}", `{"a":"\"}`, "[{]}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		s := transfer.NewJSON(strings.NewReader(in))
		for range len(in) + 3 {
			_, _, err := s.Next()
			var bad *transfer.LineError
			if err != nil && !errors.As(err, &bad) {
				return
			}
		}
		t.Errorf("%q has no end", in)
	})
}
