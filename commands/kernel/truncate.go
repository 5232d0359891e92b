package kernel

import (
	"strings"

	"github.com/duskdb/duskdb/value"
)

// Sizes from which on a command is shown [Truncated], as in mongod.
const (
	MaxProfiled  = 50 << 10 // maximum size for the profiler
	MaxCurrentOp = 1000     // maximum size for currentOp
)

// Truncated returns a copy of a command as it is shown: of one with more than limit bytes, the
// beginning of its text, and its comment.
func Truncated(d value.Doc, limit int) value.Doc {
	if len(d) <= limit {
		return d.Clone()
	}
	comment, commented := d.Get("comment")
	b := value.NewBuilder()
	b.String("$truncated", beginning(d, "comment", limit))
	if commented && len(comment.Bytes()) > limit {
		comment = value.Document(value.NewDoc("$truncated", value.String(beginning(value.NewDoc("comment", comment), "", limit))))
	}
	if commented {
		b.Append("comment", comment)
	}
	return b.Doc()
}

// beginning returns at most limit bytes of the text of a document without one of its fields.
func beginning(d value.Doc, without string, limit int) string {
	text := shortened(d, without, limit).String()
	if len(text) > limit {
		const mark = "..."
		text = strings.ToValidUTF8(text[:limit-len(mark)], "") + mark
	}
	return text
}

// shortened returns a document whose text begins as that of d does, for limit bytes. It does
// not copy what is behind them.
func shortened(d value.Doc, without string, limit int) value.Doc {
	b := value.NewBuilder()
	for name, v := range d.All() {
		if b.Len() > limit {
			break
		}
		if name != without || without == "" {
			b.Append(name, shortenedValue(v, limit))
		}
	}
	return b.Doc()
}

func shortenedValue(v value.Value, limit int) value.Value {
	if len(v.Bytes()) <= limit {
		return v
	}
	switch v.Kind() {
	case value.KindString:
		return value.String(v.Str()[:limit])
	case value.KindBinary:
		subtype, data := v.Binary()
		return value.Binary(subtype, data[:limit])
	case value.KindDocument:
		return value.Document(shortened(v.Doc(), "", limit))
	case value.KindArray:
		var list []value.Value
		size := 0
		for e := range v.Doc().Values() {
			if size > limit {
				break
			}
			list = append(list, shortenedValue(e, limit))
			size += len(e.Bytes()) + 2
		}
		return value.NewArray(list...)
	}
	return v
}

// WithComment returns the command of a getMore as it is shown: the comment of the command
// that opened the cursor is its own if it has none.
func WithComment(d, origin value.Doc) value.Doc {
	comment, commented := origin.Get("comment")
	if !commented || d.Has("comment") {
		return d
	}
	b := value.NewBuilder()
	for name, v := range d.All() {
		b.Append(name, v)
	}
	b.Append("comment", comment)
	return b.Doc()
}
