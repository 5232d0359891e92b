package transfer

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/duskdb/duskdb/value"
)

// ExportOptions say which documents are written and how.
type ExportOptions struct {
	Database, Collection string

	Query, Sort value.Doc // nil: all, in the order of the collection
	Fields      []string  // nil: all; needed for CSV
	Skip, Limit int64

	CSV       bool
	NoHeader  bool // CSV without its first line
	Array     bool // JSON: one array instead of one line each
	Canonical bool // JSON: extended JSON that keeps all types apart
	Pretty    bool // JSON: lines are broken and indented

	Progress func(documents int)
}

// Export writes the documents of a query and returns how many there are.
func Export(from Runner, w io.Writer, o ExportOptions) (int, error) {
	out := bufio.NewWriterSize(w, 1<<16)
	f := o.format(out)
	if err := f.begin(); err != nil {
		return 0, err
	}
	n, err := o.each(from, f.write)
	if err != nil {
		return n, err
	}
	if err := f.end(); err != nil {
		return n, err
	}
	return n, out.Flush()
}

// AssertExists fails if there is no such collection or view.
func AssertExists(on Runner, db, collection string) error {
	reply, err := on.Run(value.NewDoc("listCollections", value.Int32(1), "filter", value.Document(value.NewDoc("name", value.String(collection))),
		"nameOnly", value.Bool(true), "$db", value.String(db)))
	if err == nil && reply.Lookup("cursor").Doc().Lookup("firstBatch").Doc().IsEmpty() {
		err = fmt.Errorf("collection '%s' does not exist", collection)
	}
	return err
}

// each runs the query and calls fn with each document.
func (o *ExportOptions) each(from Runner, fn func(value.Doc) error) (n int, err error) {
	reply, err := from.Run(o.find())
	for batch := "firstBatch"; err == nil; batch = "nextBatch" {
		cursor := reply.Lookup("cursor").Doc()
		for v := range cursor.Lookup(batch).Doc().Values() {
			if err := fn(v.Doc()); err != nil {
				return n, err
			}
			n++
		}
		if o.Progress != nil {
			o.Progress(n)
		}
		id := cursor.Lookup("id")
		if id.Int64() == 0 {
			return n, nil
		}
		reply, err = from.Run(value.NewDoc("getMore", value.Int64(id.Int64()), "collection", value.String(o.Collection), "$db", value.String(o.Database)))
	}
	return n, err
}

// Total returns how many documents there are to export, for the progress; -1 if the query
// would have to be run to know it.
func (o *ExportOptions) Total(from Runner) int {
	if o.Query != nil && !o.Query.IsEmpty() {
		return -1
	}
	reply, err := from.Run(value.NewDoc("count", value.String(o.Collection), "$db", value.String(o.Database)))
	if err != nil {
		return -1 // the export itself will say why
	}
	n := max(reply.Lookup("n").SafeInt64()-o.Skip, 0)
	if o.Limit > 0 {
		n = min(n, o.Limit)
	}
	return int(n)
}

// find returns the find command of the export.
func (o *ExportOptions) find() value.Doc {
	b := value.NewBuilder().String("find", o.Collection)
	if o.Query != nil {
		b.Document("filter", o.Query)
	}
	if o.Sort != nil {
		b.Document("sort", o.Sort)
	}
	if len(o.Fields) > 0 {
		b.StartDocument("projection")
		for _, name := range o.Fields {
			b.Int32(name, 1)
		}
		b.End()
	}
	if o.Skip > 0 {
		b.Int64("skip", o.Skip)
	}
	if o.Limit > 0 {
		b.Int64("limit", o.Limit)
	}
	return b.String("$db", o.Database).Doc()
}

// format writes documents in one form.
type format interface {
	begin() error
	write(value.Doc) error
	end() error
}

func (o *ExportOptions) format(out *bufio.Writer) format {
	if o.CSV {
		return &csvFormat{out: csv.NewWriter(out), fields: o.Fields, header: !o.NoHeader}
	}
	return &jsonFormat{out: out, array: o.Array, canonical: o.Canonical, pretty: o.Pretty}
}

type jsonFormat struct {
	out                      *bufio.Writer
	array, canonical, pretty bool
	n                        int
}

func (f *jsonFormat) begin() error {
	if f.array {
		return f.out.WriteByte('[')
	}
	return nil
}

// write writes one document as a line, or as an element of the array.
func (f *jsonFormat) write(d value.Doc) error {
	text := d.JSON()
	if f.canonical {
		text = d.CanonicalJSON()
	}
	if f.pretty {
		var b bytes.Buffer
		if err := json.Indent(&b, []byte(text), "", "\t"); err != nil {
			return err
		}
		text = b.String()
	}
	if f.array && f.n > 0 {
		text = ",\n" + text
	} else if !f.array {
		text += "\n"
	}
	f.n++
	_, err := f.out.WriteString(text)
	return err
}

func (f *jsonFormat) end() error {
	if !f.array {
		return nil
	}
	_, err := f.out.WriteString("]\n")
	return err
}

type csvFormat struct {
	out    *csv.Writer
	fields []string
	header bool
}

func (f *csvFormat) begin() error {
	if !f.header {
		return nil
	}
	return f.out.Write(f.fields)
}

// write writes the fields; arrays and documents are written as JSON.
func (f *csvFormat) write(d value.Doc) error {
	record := make([]string, len(f.fields))
	for i, name := range f.fields {
		record[i] = cell(value.ParsePath(name).Get(d))
	}
	return f.out.Write(record)
}

func (f *csvFormat) end() error {
	f.out.Flush()
	return f.out.Error()
}

// cell is a value as text. Strings are themselves and numbers as in relaxed
// JSON; a date or an id is the quoted part of its extended JSON.
func cell(v value.Value) string {
	switch v.Kind() {
	case value.Missing, value.KindNull, value.KindUndefined:
		return ""
	case value.KindString, value.KindSymbol:
		return v.Str()
	case value.KindDocument, value.KindArray:
		return v.JSON()
	}
	text := v.JSON()
	if at := strings.Index(text, `:"`); at > 0 && strings.HasPrefix(text, `{"$`) && strings.HasSuffix(text, `"}`) && strings.Count(text, ":\"") == 1 {
		return text[at+2 : len(text)-2]
	}
	return text
}
