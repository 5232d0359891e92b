package observe

import (
	"encoding/json"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/value"
)

// LoggedDocument is the text of a document in the log.
type LoggedDocument struct {
	Text []byte
	// Truncated names the first field that there was no room for, with its type and size;
	// nil: the text is complete.
	Truncated value.Doc
	Size      int // the size of the whole document in bytes
}

// LogDocument writes a document as extended JSON of about limit bytes at most, 0 for any
// number: the first value that does not fit, and what follows it, is left out. That value is
// not encoded, however long it is.
func LogDocument(d value.Doc, limit int) LoggedDocument {
	w := documentText{limit: limit}
	left := w.document(d, false)
	return LoggedDocument{w.text, left, len(d)}
}

// AddTo adds the document to a line of the log as its only attribute of this kind.
func (d LoggedDocument) AddTo(line *zerolog.Event, name string) *zerolog.Event {
	line.RawJSON(name, d.Text)
	if d.Truncated != nil {
		line.RawJSON(truncated, []byte(value.NewDoc(name, value.Document(d.Truncated)).JSON()))
		line.RawJSON(sizes, []byte(value.NewDoc(name, value.Int(int64(d.Size))).JSON()))
	}
	return line
}

type documentText struct {
	text  []byte
	limit int
}

// document writes a document or array. If not all of it fits, it returns the path to what
// was left out first.
func (w *documentText) document(d value.Doc, array bool) (left value.Doc) {
	open, end := byte('{'), byte('}')
	if array {
		open, end = '[', ']'
	}
	w.text = append(w.text, open)
	first := true
	for name, v := range d.All() {
		before := len(w.text)
		if !first {
			w.text = append(w.text, ',')
		}
		first = false
		if inner, fits := w.field(name, v, array); inner != nil {
			left = value.NewDoc(name, value.Document(inner))
		} else if !fits {
			w.text = w.text[:before]
			left = value.NewDoc(string(cutUTF8([]byte(name), maxLeftName)), value.Document(value.NewDoc("type", value.String(v.Kind().String()), "size", value.Int(int64(sizeOf(v))))))
		}
		if left != nil {
			break
		}
	}
	w.text = append(w.text, end)
	return left
}

// maxLeftName is the length of the name of what was left out, from which on it is cut. The names
// around it had room in the text.
const maxLeftName = 100

// field writes a field. If it does not fit, it returns what was left out of it, or false if
// nothing of it was written.
func (w *documentText) field(name string, v value.Value, array bool) (left value.Doc, fits bool) {
	if !array {
		if w.full(len(name)) {
			return nil, false
		}
		key, _ := json.Marshal(name) // a string can be marshalled
		w.text = append(append(w.text, key...), ':')
	}
	switch v.Kind() {
	case value.KindDocument, value.KindArray:
		if w.full(0) {
			return nil, false
		}
		return w.document(v.Doc(), v.Kind() == value.KindArray), true
	}
	if w.full(sizeOf(v)) {
		return nil, false
	}
	w.text = append(w.text, v.JSON()...)
	return nil, !w.full(0)
}

// full reports whether there is no room for n more bytes.
func (w *documentText) full(n int) bool { return w.limit > 0 && len(w.text)+n > w.limit }

// sizeOf is about the size of a value in a document.
func sizeOf(v value.Value) int { return max(len(v.Bytes()), 1) }
