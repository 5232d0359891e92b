package stage

import (
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// CheckFieldPath checks a dotted path as mongod's FieldPath does.
func CheckFieldPath(path string) error { return expr.CheckFieldPath(path) }

// SetPath returns d with the value at the path replaced by v (removed if v
// is Missing). A value on the path that is not a document is replaced by a document.
// Fields keep their places, and new ones come last.
func SetPath(d value.Doc, parts []string, v value.Value) value.Doc {
	var b value.Builder
	b.Reset(make([]byte, 0, len(d)+len(v.Bytes())+32))
	appendSet(&b, d, parts, v)
	return b.Doc()
}

func appendSet(b *value.Builder, d value.Doc, parts []string, v value.Value) {
	found := false
	it := d.Iter()
	for it.Next() {
		if found || it.Key() != parts[0] {
			b.Raw(it.Element())
			continue
		}
		found = true
		appendSetField(b, parts, it.Value(), v)
	}
	if !found && !v.IsMissing() {
		appendSetField(b, parts, value.Value{}, v)
	}
}

// appendSetField writes the field parts[0], whose value was old.
func appendSetField(b *value.Builder, parts []string, old, v value.Value) {
	if len(parts) == 1 {
		b.Append(parts[0], v)
		return
	}
	if old.Kind() != value.KindDocument {
		if v.IsMissing() {
			b.Append(parts[0], old)
			return
		}
		old = value.Document(value.EmptyDoc)
	}
	b.StartDocument(parts[0])
	appendSet(b, old.Doc(), parts[1:], v)
	b.End()
}

// TopField returns the path that changes when a stage sets path: its whole top-level
// field, since scalars and arrays on the path become documents.
func TopField(path string) string {
	top, _, _ := strings.Cut(path, ".")
	return top
}

// Overlaps reports whether one path is the other or lies inside it.
func Overlaps(a, b string) bool {
	return a == b || Inside(a, b) || Inside(b, a)
}

// Inside reports whether path lies below prefix.
func Inside(path, prefix string) bool {
	return len(path) > len(prefix) && path[len(prefix)] == '.' && path[:len(prefix)] == prefix
}

// OverlapsAny reports whether a path overlaps one of several.
func OverlapsAny(path string, paths []string) bool {
	for _, p := range paths {
		if Overlaps(path, p) {
			return true
		}
	}
	return false
}

// PlainPath follows a path that meets no array; missing becomes null.
func PlainPath(d value.Doc, parts []string) (v value.Value, plain bool) {
	for i, part := range parts {
		v = d.Lookup(part)
		switch v.Kind() {
		case value.KindArray:
			return v, false
		case value.Missing:
			return value.Null(), true
		case value.KindDocument:
			d = v.Doc()
		default:
			if i < len(parts)-1 {
				return value.Null(), true
			}
		}
	}
	return v, true
}

// CheckFieldName checks the name of one field, which is no path.
func CheckFieldName(name string) error {
	switch {
	case strings.Contains(name, "."):
		return mongoerr.New(16412, "FieldPath field names may not contain '.'. Consider using $getField or $setField.")
	case name == "":
		return mongoerr.New(15998, "FieldPath field names may not be empty strings.")
	}
	return CheckFieldPath(name)
}
