package value

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"time"
)

// Compact prints a computed value the way mongod's class Value does, which the messages
// of aggregation show where no document was parsed: {a: 1, b: ["x"]}. Missing is
// MISSING.
func (v Value) Compact() string { return string(appendCompact(nil, v)) }

func appendCompact(dst []byte, v Value) []byte {
	switch v.kind {
	case Missing:
		return append(dst, "MISSING"...)
	case KindDouble:
		return append(dst, ShortDouble(v.Double())...)
	case KindDocument:
		return appendCompactDoc(dst, v.b, '{', '}')
	case KindArray:
		return appendCompactDoc(dst, v.b, '[', ']')
	case KindDateTime:
		return append(dst, compactDate(v.DateTime())...)
	case KindObjectID:
		id := v.ObjectID()
		return append(dst, id.Hex()...)
	case KindSymbol:
		return append(append(append(dst, `Symbol("`...), v.b...), `")`...)
	case KindCode:
		return append(append(append(dst, `Code("`...), v.b...), `")`...)
	case KindCodeScope:
		code, scope := v.CodeScope()
		dst = append(append(append(dst, `CodeWScope("`...), code...), `", `...)
		return append(appendShellDoc(dst, scope, '{', '}', false), ')')
	case KindBinary:
		dst = strconv.AppendUint(append(dst, "BinData("...), uint64(v.sub), 10)
		return append(append(append(dst, `, "`...), strings.ToUpper(hex.EncodeToString(v.b))...), `")`...)
	case KindDBPointer:
		ns, id := v.DBPointer()
		dst = append(append(append(dst, `DBRef("`...), ns...), `", `...)
		return append(append(dst, id.Hex()...), ')')
	}
	return appendShell(dst, v, false)
}

func appendCompactDoc(dst []byte, d Doc, open, shut byte) []byte {
	dst = append(dst, open)
	n := 0
	for it := d.Iter(); it.Next(); n++ {
		if n > 0 {
			dst = append(dst, ", "...)
		}
		if open == '{' {
			dst = append(append(dst, it.key...), ": "...)
		}
		dst = appendCompact(dst, it.Value())
	}
	return append(dst, shut)
}

// compactDate prints a date in ISO form; a date that has none, as its milliseconds.
func compactDate(ms int64) string {
	t := time.UnixMilli(ms).UTC()
	if year := t.Year(); year < 0 || year > 9999 {
		return strconv.FormatInt(ms, 10)
	}
	return t.Format("2006-01-02T15:04:05.000Z")
}

// ShortDouble prints a double as a C++ stream does, with six digits: 1, 0.333333, 1e+20,
// nan, inf.
func ShortDouble(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	case math.IsNaN(f):
		return "nan"
	}
	return strconv.FormatFloat(f, 'g', 6, 64)
}
