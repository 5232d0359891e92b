package value

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"
)

// String prints d the way mongod prints documents in error messages:
// { a: 1, b: "x" }.
func (d Doc) String() string { return string(appendShellDoc(nil, d, '{', '}', false)) }

// Abridged is String but that strings and binary data end after some 150 bytes, as those of the
// keys in mongod's messages do: perhaps in the middle of a character.
func (d Doc) Abridged() string { return string(appendShellDoc(nil, d, '{', '}', true)) }

// String prints v the way mongod prints values in error messages; Missing
// is "missing".
func (v Value) String() string { return string(appendShell(nil, v, false)) }

// appendShellDoc prints a document or an array between open and shut.
func appendShellDoc(dst []byte, d Doc, open, shut byte, abridged bool) []byte {
	dst = append(dst, open)
	n := 0
	it := d.Iter()
	for ; it.Next(); n++ {
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, ' ')
		if open == '{' {
			dst = append(dst, it.key...)
			dst = append(dst, ": "...)
		}
		dst = appendShell(dst, it.Value(), abridged)
	}
	if n > 0 {
		dst = append(dst, ' ')
	}
	return append(dst, shut)
}

// appendShell prints a value in mongod's notation.
func appendShell(dst []byte, v Value, abridged bool) []byte {
	switch v.kind {
	case Missing:
		return append(dst, "missing"...)
	case KindDouble:
		return append(dst, FormatDouble(v.Double())...)
	case KindInt32, KindInt64:
		return strconv.AppendInt(dst, v.Int64(), 10)
	case KindDecimal:
		return append(dst, v.Decimal().String()...)
	case KindString, KindSymbol:
		if abridged && len(v.b) >= 160 {
			return append(append(append(dst, '"'), v.b[:150]...), `..."`...)
		}
		return append(append(append(dst, '"'), v.b...), '"')
	case KindDocument:
		return appendShellDoc(dst, v.b, '{', '}', abridged)
	case KindArray:
		return appendShellDoc(dst, v.b, '[', ']', abridged)
	case KindBool:
		return strconv.AppendBool(dst, v.Bool())
	case KindDateTime:
		dst = append(dst, "new Date("...)
		return append(strconv.AppendInt(dst, v.DateTime(), 10), ')')
	case KindTimestamp:
		t, i := v.Timestamp()
		dst = strconv.AppendUint(append(dst, "Timestamp("...), uint64(t), 10)
		dst = strconv.AppendUint(append(dst, ", "...), uint64(i), 10)
		return append(dst, ')')
	case KindObjectID:
		id := v.ObjectID()
		return append(append(append(dst, "ObjectId('"...), id.Hex()...), "')"...)
	}
	return appendRareShell(dst, v, abridged)
}

// appendRareShell prints values of the rarer types.
func appendRareShell(dst []byte, v Value, abridged bool) []byte {
	switch v.kind {
	case KindNull:
		return append(dst, "null"...)
	case KindUndefined:
		return append(dst, "undefined"...)
	case KindMinKey:
		return append(dst, "MinKey"...)
	case KindMaxKey:
		return append(dst, "MaxKey"...)
	case KindRegex:
		pattern, options := v.Regex()
		return append(append(append(append(dst, '/'), pattern...), '/'), options...)
	case KindBinary:
		return appendShellBinary(dst, v, abridged)
	case KindCode:
		if abridged && len(v.b) >= 80 {
			return append(append(dst, v.b[:70]...), "..."...)
		}
		return append(dst, v.b...)
	case KindCodeScope:
		code, scope := v.CodeScope()
		dst = append(append(dst, "CodeWScope( "...), code...)
		return append(appendShellDoc(append(dst, ", "...), scope, '{', '}', abridged), ')')
	case KindDBPointer:
		ns, id := v.DBPointer()
		dst = append(append(append(dst, `DBRef('`...), ns...), `',`...)
		return append(append(dst, id.Hex()...), ')')
	}
	return dst
}

func appendShellBinary(dst []byte, v Value, abridged bool) []byte {
	if v.sub == 4 && len(v.b) == 16 {
		s := hex.EncodeToString(v.b)
		return append(dst, `UUID("`+s[:8]+"-"+s[8:12]+"-"+s[12:16]+"-"+s[16:20]+"-"+s[20:]+`")`...)
	}
	dst = strconv.AppendUint(append(dst, "BinData("...), uint64(v.sub), 10)
	dst = append(dst, ", "...)
	if abridged && len(v.b) > 80 {
		return append(append(dst, strings.ToUpper(hex.EncodeToString(v.b[:70]))...), "...)"...)
	}
	dst = append(dst, strings.ToUpper(hex.EncodeToString(v.b))...)
	return append(dst, ')')
}

// FormatDouble prints a double as mongod does in messages: with 16 digits, and .0 if nothing
// else shows that it is a double: 1.0, 0.1, 1234567.0, 1e+20, nan, inf.
func FormatDouble(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 0):
		if f < 0 {
			return "-inf"
		}
		return "inf"
	}
	s := strconv.FormatFloat(f, 'g', 16, 64)
	if strings.ContainsAny(s, ".e") {
		return s
	}
	return s + ".0"
}
