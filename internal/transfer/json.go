package transfer

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/duskdb/duskdb/value"
)

// jsonSource reads extended JSON: one array of documents, or documents that
// follow each other, with or without line breaks inside.
type jsonSource struct {
	in    *bufio.Reader
	line  int  // line of the next byte
	begun bool // the kind of file is known
	array bool
	only  bool // only an array is accepted
	comma bool // in an array, after a document
	ended bool
}

// NewJSON returns a source of the documents of a JSON array, or of documents
// that follow each other (NDJSON).
func NewJSON(r io.Reader) Source {
	return &jsonSource{in: bufio.NewReaderSize(r, 1<<16), line: 1}
}

// NewJSONArray returns a source of the documents of a JSON array. Anything else
// is an error.
func NewJSONArray(r io.Reader) Source {
	return &jsonSource{in: bufio.NewReaderSize(r, 1<<16), line: 1, only: true}
}

// Unit implements Source.
func (s *jsonSource) Unit() string { return lines }

// Next reads one document.
func (s *jsonSource) Next() (value.Doc, int, error) {
	if !s.begun {
		if err := s.begin(); err != nil {
			return nil, s.line, err
		}
	}
	if s.ended {
		return nil, s.line, s.rest()
	}
	c, err := s.skip()
	if err != nil {
		return nil, s.line, s.end(err)
	}
	if s.array && c == ']' && !s.ended {
		s.ended = true
		return nil, s.line, s.rest()
	}
	if s.array && s.comma {
		if c != ',' {
			return nil, s.line, s.lost(fmt.Errorf("expected a comma or ] between documents, not %q", c))
		}
		s.comma = false
		return s.Next()
	}
	if c != '{' {
		return nil, s.line, s.lost(fmt.Errorf("expected a document, which begins with {, not %q", c))
	}
	s.comma = true
	return s.document()
}

// begin detects an array, and skips a byte order mark.
func (s *jsonSource) begin() error {
	if mark, _ := s.in.Peek(3); bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		_, _ = s.in.Discard(3)
	}
	s.begun = true
	c, err := s.skip()
	if err != nil {
		return err
	}
	if s.array = c == '['; s.array {
		return nil
	}
	if s.only {
		return fmt.Errorf("line %d: the file is not an array, which begins with [", s.line)
	}
	return s.in.UnreadByte()
}

// skip returns the next byte that is no space.
func (s *jsonSource) skip() (byte, error) {
	for {
		c, err := s.in.ReadByte()
		switch {
		case err != nil:
			return 0, err
		case c == '\n':
			s.line++
		case c != ' ' && c != '\t' && c != '\r':
			return c, nil
		}
	}
}

// end checks the end of the file: an array must have been closed.
func (s *jsonSource) end(err error) error {
	if errors.Is(err, io.EOF) && s.array {
		s.array, s.ended = false, true
		return &LineError{Line: s.line, Err: errors.New("the file ends before the array does")}
	}
	return err
}

// rest: after an array nothing may follow.
func (s *jsonSource) rest() error {
	c, err := s.skip()
	if err != nil {
		return err
	}
	line := s.line
	_, _ = io.Copy(io.Discard, s.in)
	return &LineError{Line: line, Err: fmt.Errorf("%q after the end of the array", c)}
}

// lost reports an error and goes on with the next line.
func (s *jsonSource) lost(err error) error {
	e := &LineError{Line: s.line, Err: err}
	s.skipLine()
	s.comma = false
	return e
}

func (s *jsonSource) skipLine() {
	for {
		_, err := s.in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err == nil {
			s.line++
		}
		return
	}
}

// document reads to the brace that closes the one just read. A string cannot
// go on in the next line, and a line that begins with { begins a document: so
// one unfinished document does not swallow those after it.
func (s *jsonSource) document() (value.Doc, int, error) {
	line := s.line
	text := []byte{'{'}
	n := nesting{depth: 1}
	for n.depth > 0 {
		c, err := s.in.ReadByte()
		if err != nil {
			if err == io.EOF {
				err = &LineError{Line: line, Err: errors.New("the file ends before the document does")}
			}
			return nil, line, err
		}
		text = append(text, c)
		if err := n.step(c); err != nil {
			s.skipLine()
			s.comma = false
			return nil, line, &LineError{Line: line, Err: err}
		}
		if c == '\n' {
			s.line++
			if next, _ := s.in.Peek(1); n.quoted || len(next) == 1 && next[0] == '{' {
				s.comma = false
				return nil, line, &LineError{Line: line, Err: errors.New("the document is incomplete: " + missing(n.quoted))}
			}
		}
		if len(text) > maxText {
			return nil, line, fmt.Errorf("line %d: the document has more than %d bytes of text", line, maxText)
		}
	}
	doc, err := parse(text)
	if err != nil {
		return nil, line, &LineError{Line: line, Err: err}
	}
	return doc, line, nil
}

// parse reads the text of a document. For text that is not JSON, the error of
// the plain JSON parser is clearer than that of the extended one.
func parse(text []byte) (value.Doc, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("the document is not in UTF-8")
	}
	doc, err := value.ParseJSON(string(text))
	if err != nil {
		if plain := json.Unmarshal(text, new(any)); plain != nil {
			return nil, plain
		}
	}
	return doc, err
}

func missing(quoted bool) string {
	if quoted {
		return `a " is missing`
	}
	return "a } is missing"
}
