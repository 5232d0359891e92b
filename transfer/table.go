package transfer

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/duskdb/duskdb/value"
)

// Table says how to read CSV or TSV.
type Table struct {
	Tabs         bool     // TSV: fields end at tabs, and nothing is quoted
	Fields       []string // names of the columns; nil: the first line has them
	Typed        bool     // the names have types: "born.date(2006-01-02)"
	IgnoreBlanks bool     // empty fields are left out
}

type tableSource struct {
	in      *csv.Reader
	tabs    *bufio.Scanner
	table   Table
	columns []column
	line    int
}

// NewTable returns a source of the records of a CSV or TSV file. A column named
// "a.b" makes the field b of a document a. Values become int32, int64 or double
// if they look like it and strings otherwise, unless the columns have types.
func NewTable(r io.Reader, t Table) (Source, error) {
	in := bufio.NewReader(r)
	if mark, _ := in.Peek(3); string(mark) == "\xef\xbb\xbf" {
		_, _ = in.Discard(3)
	}
	s := &tableSource{table: t}
	if t.Tabs {
		s.tabs = bufio.NewScanner(in)
		s.tabs.Buffer(nil, maxText)
	} else {
		s.in = csv.NewReader(in)
		s.in.FieldsPerRecord = -1
	}
	names := t.Fields
	if names == nil {
		record, _, err := s.record()
		if err == io.EOF {
			return s, nil // an empty file holds no documents
		}
		if err != nil {
			return nil, err
		}
		names = record
	}
	var err error
	s.columns, err = parseColumns(names, t.Typed)
	return s, err
}

// record reads one line of fields.
func (s *tableSource) record() ([]string, int, error) {
	if s.tabs == nil {
		record, err := s.in.Read()
		var bad *csv.ParseError
		if errors.As(err, &bad) {
			return nil, bad.StartLine, &LineError{Line: bad.StartLine, Err: bad.Err}
		}
		if err != nil {
			return nil, 0, err
		}
		line, _ := s.in.FieldPos(0)
		return record, line, nil
	}
	for s.tabs.Scan() {
		s.line++
		if text := strings.TrimSuffix(s.tabs.Text(), "\r"); text != "" {
			return strings.Split(text, "\t"), s.line, nil
		}
	}
	if err := s.tabs.Err(); err != nil {
		return nil, s.line, fmt.Errorf("line %d: %w", s.line+1, err)
	}
	return nil, s.line, io.EOF
}

// Next makes a document of one record. Fields beyond the columns get the names
// field4, field5 …, as in mongoimport.
func (s *tableSource) Next() (value.Doc, int, error) {
	record, line, err := s.record()
	if err != nil {
		return nil, line, err
	}
	var root tree
	for i, text := range record {
		if text == "" && s.table.IgnoreBlanks {
			continue
		}
		c := column{name: fmt.Sprintf("field%d", i), parse: automatic}
		if i < len(s.columns) {
			c = s.columns[i]
		}
		v, err := c.parse(text)
		if err == nil {
			err = root.set(c.name, v)
		}
		if err != nil {
			return nil, line, &LineError{Line: line, Err: fmt.Errorf("column %q: %w", c.name, err)}
		}
	}
	return root.doc(), line, nil
}

// tree is a document under construction, in the order of its fields.
type tree struct {
	names []string
	leafs []value.Value
	below []*tree // nil: a leaf
}

// set puts a value at a dotted path.
func (t *tree) set(path string, v value.Value) error {
	name, rest, nested := strings.Cut(path, ".")
	at := -1
	for i, n := range t.names {
		if n == name {
			at = i
		}
	}
	if at >= 0 && (!nested || t.below[at] == nil) {
		return errors.New("another column has the same field")
	}
	if !nested {
		t.names, t.leafs, t.below = append(t.names, name), append(t.leafs, v), append(t.below, nil)
		return nil
	}
	if at < 0 {
		at = len(t.names)
		t.names, t.leafs, t.below = append(t.names, name), append(t.leafs, v), append(t.below, &tree{})
	}
	return t.below[at].set(rest, v)
}

func (t *tree) doc() value.Doc {
	b := value.NewBuilder()
	for i, name := range t.names {
		if t.below[i] != nil {
			b.Document(name, t.below[i].doc())
		} else {
			b.Append(name, t.leafs[i])
		}
	}
	return b.Doc()
}
