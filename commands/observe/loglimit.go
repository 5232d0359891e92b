package observe

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"sync/atomic"
	"unicode/utf8"
)

// LogLimit bounds the attributes of log lines, which may repeat whatever a client has sent.
// The zero value has mongod's default. A nil LogLimit has it as well, and cannot be changed.
type LogLimit struct{ set atomic.Int64 } // KB + 1; 0: the default

// defaultLogKB is the bound of an attribute in KB, as mongod's maxLogSizeKB.
const defaultLogKB = 10

// SetKB changes the bound of an attribute; 0: none.
func (l *LogLimit) SetKB(kb int64) {
	if l != nil {
		l.set.Store(kb + 1)
	}
}

// Bytes returns the bound of an attribute; 0: none.
func (l *LogLimit) Bytes() int {
	if l == nil || l.set.Load() == 0 {
		return defaultLogKB << 10
	}
	return int(l.set.Load()-1) << 10
}

// Writer returns a writer that cuts the attributes of the lines, JSON documents, on their
// way to out. What was cut is listed in "truncated", as in mongod's log.
func (l *LogLimit) Writer(out io.Writer) io.Writer { return limitedLog{l, out} }

type limitedLog struct {
	limit *LogLimit
	out   io.Writer
}

// Write implements io.Writer: one call is one line.
func (w limitedLog) Write(p []byte) (int, error) {
	line := p
	if limit := w.limit.Bytes(); limit > 0 && len(p) > limit {
		line = cutLine(p, limit)
	}
	if _, err := w.out.Write(line); err != nil {
		return 0, err
	}
	return len(p), nil
}

// cutLine returns a line whose attributes have at most limit bytes. One that is no JSON
// document is cut itself.
func cutLine(p []byte, limit int) []byte {
	cut := lineCut{limit: limit}
	if err := cut.fields(json.NewDecoder(bytes.NewReader(p)), true); err != nil {
		return append(cutUTF8(p, limit), '\n')
	}
	if cut.report.Len() > 0 {
		cut.out.WriteString(`,"` + truncated + `":{`)
		cut.out.Write(cut.report.Bytes())
		cut.out.WriteByte('}')
	}
	cut.out.WriteString("}\n")
	return cut.out.Bytes()
}

// lineCut copies a line.
type lineCut struct {
	limit  int
	out    bytes.Buffer
	report bytes.Buffer // the fields of "truncated"
}

// Fields of a line that are not attributes: a document of attributes, the list of those that
// were cut, and the sizes of the documents among these.
const (
	attributes = "attr"
	truncated  = "truncated"
	sizes      = "size"
)

// fields copies the fields of a document, without its closing brace.
func (c *lineCut) fields(d *json.Decoder, outer bool) error {
	if _, err := d.Token(); err != nil {
		return err
	}
	c.out.WriteByte('{')
	first := true
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := token.(string)
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return err
		}
		if outer && name == truncated && v[0] == '{' {
			c.comma()
			c.report.Write(v[1 : len(v)-1])
			continue
		}
		if !first {
			c.out.WriteByte(',')
		}
		first = false
		c.out.Write(quoted(name, c.limit))
		c.out.WriteByte(':')
		if outer && name == attributes && v[0] == '{' {
			if err := c.fields(json.NewDecoder(bytes.NewReader(v)), false); err != nil {
				return err
			}
			c.out.WriteByte('}')
			continue
		}
		c.value(name, v)
	}
	return nil
}

// comma separates the fields of the report.
func (c *lineCut) comma() {
	if c.report.Len() > 0 {
		c.report.WriteByte(',')
	}
}

// value copies the value of an attribute. What remains of one that is too long is a string.
// A document may be longer by the brackets at its end, see [LogDocument].
func (c *lineCut) value(name string, v json.RawMessage) {
	limit := c.limit + len(`""`)
	if v[0] == '{' || v[0] == '[' {
		limit = 2 * c.limit
	}
	if len(v) <= limit {
		c.out.Write(v)
		return
	}
	kind := "string"
	switch v[0] {
	case '"':
		v = v[1 : len(v)-1]
		c.out.WriteByte('"')
		c.out.Write(cutEscaped(v, c.limit))
		c.out.WriteByte('"')
	default:
		if kind = "object"; v[0] == '[' {
			kind = "array"
		}
		c.out.Write(quoted(string(cutUTF8(v, c.limit)), c.limit))
	}
	c.comma()
	c.report.Write(quoted(name, c.limit))
	c.report.WriteString(`:{"type":"` + kind + `","size":` + strconv.Itoa(len(v)) + `}`)
}

// quoted returns text as a JSON string of at most limit bytes.
func quoted(text string, limit int) []byte {
	b, _ := json.Marshal(string(cutUTF8([]byte(text), limit))) // a string can be marshalled
	if len(b) > limit+len(`""`) {
		b = append(cutEscaped(b[1:len(b)-1], limit), '"')
		b = append([]byte{'"'}, b...)
	}
	return b
}

// cutUTF8 returns the beginning of text, at most limit bytes, without a part of a character.
func cutUTF8(text []byte, limit int) []byte {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit:limit]
}

// longestEscape is the length of the longest escape sequence: a surrogate pair.
const longestEscape = len(`\ud83d\ude00`)

// cutEscaped returns the beginning of the inside of a JSON string, at most limit bytes,
// without a part of a character or of an escape sequence.
func cutEscaped(text []byte, limit int) []byte {
	text = cutUTF8(text, limit)
	for n := 0; n <= longestEscape && n < len(text); n++ {
		if head := text[: len(text)-n : len(text)-n]; json.Valid(append(append([]byte{'"'}, head...), '"')) {
			return head
		}
	}
	return nil
}
