package transfer

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/duskdb/duskdb/value"
)

// Table configures the reading of CSV or TSV.
type Table struct {
	Tabs         bool     // TSV: fields end at tabs, and nothing is quoted
	Fields       []string // names of the columns; nil: the first line has them
	Typed        bool     // the names have types: "born.date(2006-01-02)"
	IgnoreBlanks bool     // empty fields are left out
	Arrays       bool     // the columns "a.0" and "a.1" make an array a
	Grace        Grace    // handling of a field that does not have its column's type
}

// Grace is mongoimport's --parseGrace.
type Grace string

// The graces. Without one the record is an error like any other.
const (
	AutoCast  Grace = "autoCast"  // treat it as in a column without a type
	SkipField Grace = "skipField" // leave it out
	SkipRow   Grace = "skipRow"   // leave the record out
	Stop      Grace = "stop"      // end the import
)

type tableSource struct {
	in      lineReader
	table   Table
	columns []column
}

// NewTable returns a source of the records of a CSV or TSV file. A column named
// "a.b" makes the field b of a document a. Values become int32, int64 or double
// if they look like it and strings otherwise, unless the columns have types.
func NewTable(r io.Reader, t Table) (Source, error) {
	in := bufio.NewReaderSize(r, 1<<16)
	if mark, _ := in.Peek(3); string(mark) == "\xef\xbb\xbf" {
		_, _ = in.Discard(3)
	}
	s := &tableSource{table: t, in: lineReader{in: in}}
	names := t.Fields
	if names == nil {
		record, _, err := s.record()
		if errors.Is(err, io.EOF) {
			return s, nil // an empty file holds no documents
		}
		if err != nil {
			return nil, err
		}
		names = record
	}
	var err error
	if s.columns, err = parseColumns(names, t.Typed); err != nil {
		return s, err
	}
	trial := tree{arrays: t.Arrays, all: true}
	for _, c := range s.columns { // whether the columns can stand beside each other
		if err := trial.set(c.name, value.Null()); err != nil {
			return s, fmt.Errorf("column %q: %w", value.Cut(c.name, 100), err)
		}
	}
	return s, nil
}

// record reads one line of fields.
func (s *tableSource) record() ([]string, int, error) {
	if s.table.Tabs {
		return s.in.tabs()
	}
	return s.in.commas()
}

// Unit implements Source.
func (s *tableSource) Unit() string { return lines }

// Next makes a document of one record. Fields beyond the columns get the names
// field4, field5 …, as in mongoimport.
func (s *tableSource) Next() (value.Doc, int, error) {
	record, line, err := s.record()
	if err != nil {
		return nil, line, err
	}
	root := tree{arrays: s.table.Arrays}
	for i, text := range record {
		if text == "" && s.table.IgnoreBlanks {
			continue
		}
		if err := s.field(&root, i, text); err != nil {
			return nil, line, &LineError{Line: line, Err: err, Stop: s.table.Grace == Stop}
		}
	}
	return root.doc(), line, nil
}

// field adds a field of a record to its document.
func (s *tableSource) field(root *tree, i int, text string) error {
	c := column{name: fmt.Sprintf("field%d", i), parse: automatic}
	if i < len(s.columns) {
		c = s.columns[i]
	}
	v, err := c.parse(text)
	if err != nil && s.table.Grace == SkipField {
		return nil
	}
	if err != nil && s.table.Grace == AutoCast {
		v, err = automatic(text)
	}
	if err == nil && !utf8.ValidString(text) {
		err = fmt.Errorf("%q is not UTF-8", text)
	}
	if err == nil {
		err = root.set(c.name, v)
	}
	if err != nil {
		return fmt.Errorf("column %q: %w", c.name, err)
	}
	return nil
}
