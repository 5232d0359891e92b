package value

// Kind is a BSON element type byte. The zero Kind, [Missing], is not a BSON
// type: it marks the absence of a value (a path that leads nowhere).
type Kind byte

// The BSON types, in the order of the BSON specification.
const (
	Missing       Kind = 0x00
	KindDouble    Kind = 0x01
	KindString    Kind = 0x02
	KindDocument  Kind = 0x03
	KindArray     Kind = 0x04
	KindBinary    Kind = 0x05
	KindUndefined Kind = 0x06
	KindObjectID  Kind = 0x07
	KindBool      Kind = 0x08
	KindDateTime  Kind = 0x09
	KindNull      Kind = 0x0A
	KindRegex     Kind = 0x0B
	KindDBPointer Kind = 0x0C
	KindCode      Kind = 0x0D
	KindSymbol    Kind = 0x0E
	KindCodeScope Kind = 0x0F
	KindInt32     Kind = 0x10
	KindTimestamp Kind = 0x11
	KindInt64     Kind = 0x12
	KindDecimal   Kind = 0x13
	KindMinKey    Kind = 0xFF
	KindMaxKey    Kind = 0x7F
)

// kindInfo has the properties of a type: the $type alias, its rank in the
// cross-type order (canonicalizeBSONType in the server's sources) and the
// payload width (-1: variable).
type kindInfo struct {
	alias string
	rank  int8
	width int8
}

var kinds = [256]kindInfo{
	Missing:       {"missing", 1, 0},
	KindDouble:    {"double", 10, 8},
	KindString:    {"string", 15, -1},
	KindDocument:  {"object", 20, -1},
	KindArray:     {"array", 25, -1},
	KindBinary:    {"binData", 30, -1},
	KindUndefined: {"undefined", 1, 0},
	KindObjectID:  {"objectId", 35, 12},
	KindBool:      {"bool", 40, 1},
	KindDateTime:  {"date", 45, 8},
	KindNull:      {"null", 5, 0},
	KindRegex:     {"regex", 50, -1},
	KindDBPointer: {"dbPointer", 55, -1},
	KindCode:      {"javascript", 60, -1},
	KindSymbol:    {"symbol", 15, -1},
	KindCodeScope: {"javascriptWithScope", 65, -1},
	KindInt32:     {"int", 10, 4},
	KindTimestamp: {"timestamp", 47, 8},
	KindInt64:     {"long", 10, 8},
	KindDecimal:   {"decimal", 10, 16},
	KindMinKey:    {"minKey", 0, 0},
	KindMaxKey:    {"maxKey", 127, 0},
}

// String returns the type's $type alias: "int", "objectId", "missing".
func (k Kind) String() string {
	if s := kinds[k].alias; s != "" {
		return s
	}
	return "unknown"
}

// Valid reports whether k is a type that BSON defines.
func (k Kind) Valid() bool { return k != Missing && kinds[k].alias != "" }

// Rank is the type's place in the order across types; types that compare
// with each other by value (the four numbers; string and symbol) share one.
func (k Kind) Rank() int { return int(kinds[k].rank) }

// IsNumber reports whether k is int, long, double or decimal.
func (k Kind) IsNumber() bool { return kinds[k].rank == 10 }

// KindByAlias finds a type by its $type alias ("string", "objectId", …).
func KindByAlias(alias string) (Kind, bool) {
	for k, info := range kinds {
		if info.alias == alias && alias != "" && Kind(k) != Missing {
			return Kind(k), true
		}
	}
	return Missing, false
}
