package value

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// JSON returns d as relaxed extended JSON.
func (d Doc) JSON() string { return d.json(false) }

// CanonicalJSON returns d as canonical extended JSON, which preserves all
// types.
func (d Doc) CanonicalJSON() string { return d.json(true) }

func (d Doc) json(canonical bool) string {
	var text strings.Builder
	if err := WriteJSON(&text, bytes.NewReader(d), canonical); err != nil {
		return "<invalid: " + err.Error() + ">"
	}
	return text.String()
}

// JSON returns v as relaxed extended JSON.
func (v Value) JSON() string {
	if v.kind == Missing {
		return "missing"
	}
	s := NewDoc("v", v).JSON()
	return s[len(`{"v":`) : len(s)-1]
}

// WriteJSON reads a BSON document and writes it as extended JSON while it arrives: neither
// the document nor its text is ever in memory as a whole. Memory is the same for a document of
// any size.
func WriteJSON(w io.Writer, r io.Reader, canonical bool) error {
	j := jsonWriter{in: bufio.NewReaderSize(r, jsonBuffer), out: bufio.NewWriterSize(w, jsonBuffer), canonical: canonical}
	if err := j.document(); err != nil {
		return err
	}
	return j.out.Flush()
}

// maxJSONDepth is more than MaxDepth because replies have documents in them.
const maxJSONDepth = MaxDepth + 8

// jsonBuffer is the size of the buffers on both sides.
const jsonBuffer = 4 << 10

var errCutShort = &InvalidError{Reason: "document is cut short"}

// jsonWriter turns BSON into extended JSON. Write errors stay in out until it is flushed.
type jsonWriter struct {
	in        *bufio.Reader
	out       *bufio.Writer
	canonical bool
	open      []jsonLevel
	small     [24]byte // room for a value of fixed length
}

// jsonLevel is a document or an array that is being written.
type jsonLevel struct {
	array bool
	begun bool   // it has an element
	end   string // the text that closes it
}

// document writes the document that begins here, with all in it.
func (j *jsonWriter) document() error {
	if err := j.begin(jsonLevel{end: "}"}); err != nil {
		return err
	}
	for len(j.open) > 0 {
		if err := j.element(); err != nil {
			return err
		}
	}
	return nil
}

// begin reads the length of a document, which its end says as well.
func (j *jsonWriter) begin(l jsonLevel) error {
	if len(j.open) > maxJSONDepth {
		return ErrDepth
	}
	if _, err := j.fixed(4); err != nil {
		return err
	}
	if l.array {
		_ = j.out.WriteByte('[')
	} else {
		_ = j.out.WriteByte('{')
	}
	j.open = append(j.open, l)
	return nil
}

// element writes the next element of the innermost document, or its end.
func (j *jsonWriter) element() error {
	l := &j.open[len(j.open)-1]
	b, err := j.in.ReadByte()
	if err != nil {
		return errCutShort
	}
	if b == 0 {
		_, err := j.out.WriteString(l.end)
		j.open = j.open[:len(j.open)-1]
		return err
	}
	if !Kind(b).Valid() {
		return &InvalidError{Reason: "unrecognized BSON type " + strconv.Itoa(int(b))}
	}
	if l.begun {
		_ = j.out.WriteByte(',')
	}
	l.begun = true
	if l.array {
		err = j.cstring(nil)
	} else {
		err = j.quotedCString()
		_ = j.out.WriteByte(':')
	}
	if err != nil {
		return err
	}
	return j.value(Kind(b))
}

// value writes a value of a kind. It opens documents and arrays, which element then fills.
func (j *jsonWriter) value(k Kind) error {
	if n := int(kinds[k].width); n >= 0 {
		return j.plain(k, n)
	}
	switch k {
	case KindDocument:
		return j.begin(jsonLevel{end: "}"})
	case KindArray:
		return j.begin(jsonLevel{array: true, end: "]"})
	case KindString:
		return j.str()
	case KindSymbol:
		return j.around(`{"$symbol":`, j.str, `}`)
	case KindCode:
		return j.around(`{"$code":`, j.str, `}`)
	case KindBinary:
		return j.binary()
	case KindRegex:
		return j.regex()
	case KindDBPointer:
		if err := j.around(`{"$dbPointer":{"$ref":`, j.str, `,"$id":`); err != nil {
			return err
		}
		return j.around("", func() error { return j.plain(KindObjectID, 12) }, `}}`)
	}
	if _, err := j.fixed(4); err != nil { // code with scope
		return err
	}
	if err := j.around(`{"$code":`, j.str, `,"$scope":`); err != nil {
		return err
	}
	return j.begin(jsonLevel{end: "}}"})
}

func (j *jsonWriter) around(before string, write func() error, after string) error {
	_, _ = j.out.WriteString(before)
	if err := write(); err != nil {
		return err
	}
	_, err := j.out.WriteString(after)
	return err
}

// fixed reads n bytes, which are valid until the next read.
func (j *jsonWriter) fixed(n int) ([]byte, error) {
	b := j.small[:n]
	if _, err := io.ReadFull(j.in, b); err != nil {
		return nil, errCutShort
	}
	return b, nil
}

// length reads a length that is not less than low.
func (j *jsonWriter) length(low int) (int, error) {
	b, err := j.fixed(4)
	if err != nil {
		return 0, err
	}
	n := int(int32(binary.LittleEndian.Uint32(b)))
	if n < low {
		return 0, &InvalidError{Reason: "incorrect BSON length"}
	}
	return n, nil
}

// plain writes a value of fixed length.
func (j *jsonWriter) plain(k Kind, n int) error {
	b, err := j.fixed(n)
	if err != nil {
		return err
	}
	_, err = j.out.Write(appendPlainJSON(j.out.AvailableBuffer(), k, b, j.canonical))
	return err
}

// appendPlainJSON appends a value of fixed length.
func appendPlainJSON(dst []byte, k Kind, b []byte, canonical bool) []byte {
	switch k {
	case KindBool:
		return strconv.AppendBool(dst, b[0] != 0)
	case KindNull:
		return append(dst, "null"...)
	case KindUndefined:
		return append(dst, `{"$undefined":true}`...)
	case KindMinKey:
		return append(dst, `{"$minKey":1}`...)
	case KindMaxKey:
		return append(dst, `{"$maxKey":1}`...)
	case KindObjectID:
		return append(hex.AppendEncode(append(dst, `{"$oid":"`...), b), `"}`...)
	case KindInt32:
		return appendIntJSON(dst, `{"$numberInt":"`, int64(int32(binary.LittleEndian.Uint32(b))), canonical)
	}
	bits := binary.LittleEndian.Uint64(b)
	switch k {
	case KindInt64:
		return appendIntJSON(dst, `{"$numberLong":"`, int64(bits), canonical)
	case KindTimestamp:
		dst = strconv.AppendUint(append(dst, `{"$timestamp":{"t":`...), bits>>32, 10)
		return append(strconv.AppendUint(append(dst, `,"i":`...), bits&math.MaxUint32, 10), "}}"...)
	case KindDateTime:
		return appendDateJSON(dst, int64(bits), canonical)
	case KindDecimal:
		d := Decimal{Lo: bits, Hi: binary.LittleEndian.Uint64(b[8:])}
		return append(append(append(dst, `{"$numberDecimal":"`...), d.String()...), `"}`...)
	}
	return appendDoubleJSON(dst, math.Float64frombits(bits), canonical)
}

func appendIntJSON(dst []byte, canonically string, n int64, canonical bool) []byte {
	if !canonical {
		return strconv.AppendInt(dst, n, 10)
	}
	return append(strconv.AppendInt(append(dst, canonically...), n, 10), `"}`...)
}

func appendDoubleJSON(dst []byte, f float64, canonical bool) []byte {
	special := math.IsNaN(f) || math.IsInf(f, 0)
	if canonical || special {
		dst = append(dst, `{"$numberDouble":"`...)
	}
	switch {
	case math.IsNaN(f):
		dst = append(dst, "NaN"...)
	case math.IsInf(f, 1):
		dst = append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		dst = append(dst, "-Infinity"...)
	default:
		start := len(dst)
		dst = strconv.AppendFloat(dst, f, 'G', -1, 64)
		if !bytes.ContainsAny(dst[start:], "E.") {
			dst = append(dst, ".0"...)
		}
	}
	if canonical || special {
		dst = append(dst, `"}`...)
	}
	return dst
}

// appendDateJSON appends a date; relaxed JSON has text only for the years 1970 to 9999.
func appendDateJSON(dst []byte, ms int64, canonical bool) []byte {
	const endOf9999 = 253402300800_000
	if !canonical && ms >= 0 && ms < endOf9999 {
		return append(time.UnixMilli(ms).UTC().AppendFormat(append(dst, `{"$date":"`...), "2006-01-02T15:04:05.999Z07:00"), `"}`...)
	}
	return append(strconv.AppendInt(append(dst, `{"$date":{"$numberLong":"`...), ms, 10), `"}}`...)
}

// str writes a string.
func (j *jsonWriter) str() error {
	n, err := j.length(1)
	if err != nil {
		return err
	}
	_ = j.out.WriteByte('"')
	for left := n - 1; left > 0; {
		b, err := j.in.Peek(min(left, jsonBuffer))
		if err != nil {
			return errCutShort
		}
		used := j.text(b, len(b) == left)
		left -= used
		_, _ = j.in.Discard(used)
	}
	if end, err := j.in.ReadByte(); err != nil || end != 0 {
		return &InvalidError{Reason: "string is not terminated"}
	}
	return j.out.WriteByte('"')
}

// cstring reads to a NUL and hands the text before it to write in parts, which it does
// not cut within a character; nil: the text is skipped.
func (j *jsonWriter) cstring(write func(part []byte, last bool) (used int)) error {
	for {
		_, err := j.in.Peek(1) // so that something is buffered
		if err != nil {
			return errCutShort
		}
		b, _ := j.in.Peek(j.in.Buffered())
		end := bytes.IndexByte(b, 0)
		if end >= 0 {
			if write != nil {
				write(b[:end], true)
			}
			_, err = j.in.Discard(end + 1)
			return err
		}
		used := len(b)
		if write != nil {
			used = write(b, false)
		}
		_, _ = j.in.Discard(used)
		if used < len(b) { // the rest of a character must come first
			if _, err := j.in.Peek(len(b) - used + 1); err != nil {
				return errCutShort
			}
		}
	}
}

func (j *jsonWriter) quotedCString() error {
	_ = j.out.WriteByte('"')
	if err := j.cstring(j.text); err != nil {
		return err
	}
	return j.out.WriteByte('"')
}

// regex writes a regular expression. Its options are sorted, as extended JSON wants it, if
// they are not of absurd length.
func (j *jsonWriter) regex() error {
	_, _ = j.out.WriteString(`{"$regularExpression":{"pattern":`)
	if err := j.quotedCString(); err != nil {
		return err
	}
	_, _ = j.out.WriteString(`,"options":"`)
	if err := j.cstring(func(part []byte, last bool) int {
		if last {
			part = bytes.Clone(part)
			slices.Sort(part)
		}
		return j.text(part, last)
	}); err != nil {
		return err
	}
	_, err := j.out.WriteString(`"}}`)
	return err
}

// binary writes binary data.
func (j *jsonWriter) binary() error {
	n, err := j.length(0)
	if err != nil {
		return err
	}
	sub, err := j.in.ReadByte()
	if err == nil && sub == 2 { // which repeats its length
		n, err = j.length(0)
	}
	if err != nil {
		return errCutShort
	}
	_, _ = j.out.WriteString(`{"$binary":{"base64":"`)
	for n > 0 {
		b, err := j.in.Peek(min(n, jsonBuffer/4*3))
		if err != nil {
			return errCutShort
		}
		_, _ = j.out.Write(base64.StdEncoding.AppendEncode(j.out.AvailableBuffer(), b))
		_, _ = j.in.Discard(len(b))
		n -= len(b)
	}
	const digits = "0123456789abcdef"
	_, err = j.out.Write(append(append(j.out.AvailableBuffer(), `","subType":"`...), digits[sub>>4], digits[sub&15], '"', '}', '}'))
	return err
}

// text writes a part of a string and returns how much of it. It leaves out a character at the
// end that is not whole, unless it is the last part.
func (j *jsonWriter) text(b []byte, last bool) (used int) {
	start := 0
	for i := 0; i < len(b); {
		c, size := rune(b[i]), 1
		switch {
		case c <= '\\' && escapes[c] == "", c > '\\' && c < utf8.RuneSelf:
			i++
			continue
		case c >= utf8.RuneSelf:
			if !last && !utf8.FullRune(b[i:]) {
				_, _ = j.out.Write(b[start:i])
				return i
			}
			c, size = utf8.DecodeRune(b[i:])
		}
		if escape := escapeJSON(c, size); escape != "" {
			_, _ = j.out.Write(b[start:i])
			_, _ = j.out.WriteString(escape)
			start = i + size
		}
		i += size
	}
	_, _ = j.out.Write(b[start:])
	return len(b)
}

// escapeJSON returns how a character is written in a string, "" if as it is.
func escapeJSON(c rune, size int) string {
	switch {
	case c < ' ' || c == '"' || c == '\\':
		return escapes[c]
	case c < utf8.RuneSelf:
	case c == utf8.RuneError && size == 1:
		return `\ufffd`
	case c == '\u2028':
		return `\u2028` // not allowed in a string of older JavaScript
	case c == '\u2029':
		return `\u2029`
	}
	return ""
}

// escapes are the control characters, the quote and the backslash in a string.
var escapes = func() (list ['\\' + 1]string) {
	const digits = "0123456789abcdef"
	for c := range ' ' {
		list[c] = `\u00` + string(digits[c>>4]) + string(digits[c&15])
	}
	list['\b'], list['\f'], list['\n'], list['\r'], list['\t'] = `\b`, `\f`, `\n`, `\r`, `\t`
	list['"'], list['\\'] = `\"`, `\\`
	return list
}()
