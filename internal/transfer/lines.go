package transfer

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// lineReader reads the records of CSV and TSV as mongoimport does: in CSV the space
// around a field does not belong to it, quoted or not.
type lineReader struct {
	in   *bufio.Reader
	line int    // lines that have been read
	text []byte // the current line, or those of the current record
}

// The errors of quotes.
var (
	errBareQuote = errors.New(`bare " in non-quoted field`)
	errQuote     = errors.New(`extraneous or missing " in quoted-field`)
)

// more adds the next line to the text, with its end. The end of the file is an error if
// there is nothing before it.
func (r *lineReader) more() error {
	before := len(r.text)
	for {
		part, err := r.in.ReadSlice('\n')
		if len(r.text)+len(part) > maxLine {
			return fmt.Errorf("line %d: %w", r.line+1, errTooLong)
		}
		r.text = append(r.text, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err == io.EOF && len(r.text) > before, err == nil:
			r.line++
			return nil
		default:
			return err
		}
	}
}

// tabs reads a record of TSV.
func (r *lineReader) tabs() ([]string, int, error) {
	for {
		r.text = r.text[:0]
		if err := r.more(); err != nil {
			return nil, r.line, err
		}
		text := bytes.TrimSuffix(bytes.TrimSuffix(r.text, []byte("\n")), []byte("\r"))
		if len(text) == 0 {
			continue
		}
		if bytes.Count(text, []byte("\t")) >= maxColumns {
			return nil, r.line, &LineError{Line: r.line, Err: errTooManyColumns}
		}
		return strings.Split(string(text), "\t"), r.line, nil
	}
}

// commas reads a record of CSV. It skips empty lines.
func (r *lineReader) commas() (fields []string, line int, err error) {
	for {
		r.text = r.text[:0]
		if err := r.more(); err != nil {
			return nil, r.line, err
		}
		if text := bytes.TrimSuffix(bytes.TrimSuffix(r.text, []byte("\n")), []byte("\r")); len(text) > 0 {
			break
		}
	}
	line = r.line
	for at := 0; ; {
		field, next, err := r.field(at)
		if errors.Is(err, errBareQuote) || errors.Is(err, errQuote) {
			return nil, line, &LineError{Line: line, Err: err}
		}
		if err != nil {
			return nil, line, err
		}
		if len(fields) == maxColumns {
			return nil, line, &LineError{Line: line, Err: errTooManyColumns}
		}
		fields = append(fields, field)
		if next < 0 {
			return fields, line, nil
		}
		at = next
	}
}

// field reads the field that begins at a position of the text, and returns the position
// of the next one; -1 at the end of the record.
func (r *lineReader) field(at int) (field string, next int, err error) {
	rest := bytes.TrimLeftFunc(r.text[at:], unicode.IsSpace)
	if len(rest) > 0 && rest[0] == '"' {
		return r.quoted(len(r.text) - len(rest) + 1)
	}
	end := bytes.IndexByte(r.text[at:], ',')
	if next = at + end + 1; end < 0 {
		end, next = len(r.text)-at, -1
	}
	text := bytes.TrimSpace(r.text[at : at+end])
	if bytes.IndexByte(text, '"') >= 0 {
		return "", 0, errBareQuote
	}
	return string(text), next, nil
}

// quoted reads a field after its first quote. It may go over several lines.
func (r *lineReader) quoted(at int) (field string, next int, err error) {
	var out []byte
	for {
		end := bytes.IndexByte(r.text[at:], '"')
		if end < 0 {
			out = append(out, bytes.ReplaceAll(r.text[at:], []byte("\r\n"), []byte("\n"))...)
			at = len(r.text)
			if err := r.more(); errors.Is(err, io.EOF) {
				return "", 0, errQuote
			} else if err != nil {
				return "", 0, err
			}
			continue
		}
		out = append(out, bytes.ReplaceAll(r.text[at:at+end], []byte("\r\n"), []byte("\n"))...)
		at += end + 1
		if at == len(r.text) || r.text[at] != '"' {
			break
		}
		out = append(out, '"')
		at++
	}
	rest := bytes.TrimLeftFunc(r.text[at:], unicode.IsSpace)
	switch {
	case len(rest) == 0:
		return string(out), -1, nil
	case rest[0] == ',':
		return string(out), len(r.text) - len(rest) + 1, nil
	}
	return "", 0, errQuote
}
