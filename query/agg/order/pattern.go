package order

import (
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// maxSortParts is how many fields a sort may have.
const maxSortParts = 32

// Pattern is {a: 1, b: -1, score: {$meta: "textScore"}}.
type Pattern []Part

// Part is one field of a Pattern.
type Part struct {
	Path string
	P    value.Path
	Desc bool
	Meta bool // sorts by metadata instead of the path
	Kind expr.MetaKind
	name string // the name of the metadata
}

// sortMeta are the metadata a sort may use.
var sortMeta = map[string]expr.MetaKind{
	"expiresAt":         expr.MetaExpiresAt,
	"geoNearDistance":   expr.MetaGeoNearDistance,
	"randVal":           expr.MetaRandVal,
	"score":             expr.MetaScore,
	"searchScore":       expr.MetaSearchScore,
	"textScore":         expr.MetaTextScore,
	"vectorSearchScore": expr.MetaVectorSearchScore,
}

// ParsePattern reads the specification of a sort.
func ParsePattern(d value.Doc) (Pattern, error) {
	var pattern Pattern
	seen, fields := map[string]bool{}, 0
	for k, v := range d.All() {
		part, err := parseSortPart(k, v)
		if err != nil {
			return nil, err
		}
		if seen[k] {
			return nil, mongoerr.Newf(7472500, "$sort key must not contain duplicate keys (duplicate: '%s')", k)
		}
		seen[k] = true
		pattern = append(pattern, part)
		if !part.Meta {
			fields++
		}
	}
	switch {
	case len(pattern) == 0:
		return nil, mongoerr.New(15976, "$sort stage must have at least one sort key")
	case fields > maxSortParts:
		return nil, mongoerr.Newf(13103, "too many compound keys")
	}
	return pattern, nil
}

func parseSortPart(k string, v value.Value) (Part, error) {
	part := Part{Path: strings.Clone(k)}
	if v.Kind() == value.KindDocument {
		name, arg := v.Doc().First()
		if name == "$meta" && v.Doc().Len() != 1 {
			return part, mongoerr.New(mongoerr.FailedToParse, "Cannot have additional keys in a $meta sort specification")
		}
		if name != "$meta" {
			return part, mongoerr.New(17312, "$meta is the only expression supported by $sort right now")
		}
		kind, ok := sortMeta[arg.Str()]
		if !ok || arg.Kind() != value.KindString {
			return part, illegalMeta(arg)
		}
		part.Meta, part.Kind, part.name = true, kind, strings.Clone(arg.Str())
		part.Desc = kind != expr.MetaExpiresAt // all of mongod's descend, distances too
		return part, nil
	}
	if !v.IsNumber() {
		return part, mongoerr.Newf(15974, "Illegal key in $sort specification: %s: %s", k, v)
	}
	switch v.SafeInt64() {
	case 1:
	case -1:
		part.Desc = true
	default:
		return part, mongoerr.New(15975, "$sort key ordering must be 1 (for ascending) or -1 (for descending)")
	}
	part.P = value.ParsePath(part.Path)
	return part, stage.CheckFieldPath(part.Path)
}

// illegalMeta is the error of metadata by which nothing can be sorted.
func illegalMeta(name value.Value) error {
	return mongoerr.Newf(31138, "Illegal $meta sort: $meta: %s", name)
}

// Doc is the pattern as a document.
func (s Pattern) Doc() value.Doc {
	b := value.NewBuilder()
	for _, part := range s {
		switch {
		case part.Meta:
			b.StartDocument(part.Path).String("$meta", part.name).End()
		case part.Desc:
			b.Int32(part.Path, -1)
		default:
			b.Int32(part.Path, 1)
		}
	}
	return b.Doc()
}

// MetaOnly reports whether any part sorts by metadata, which no index can.
func (s Pattern) MetaOnly() bool {
	for _, part := range s {
		if part.Meta {
			return true
		}
	}
	return false
}

// Deps notes what the stage reads.
func (s Pattern) Deps(d *stage.Deps) {
	for _, part := range s {
		if !part.Meta {
			d.Add(part.Path)
		}
	}
}

// Extends reports whether sorting by s also sorts by prefix.
func (s Pattern) Extends(prefix Pattern) bool {
	if len(prefix) > len(s) {
		return false
	}
	for i, part := range prefix {
		if s[i].Path != part.Path || s[i].Desc != part.Desc || s[i].Meta || part.Meta {
			return false
		}
	}
	return true
}

// AppendKey appends the key of a document: bytes whose order is the order of
// the sort.
func (s Pattern) AppendKey(dst []byte, env *expr.Env, d value.Doc, c value.Collator) ([]byte, error) {
	start := len(dst)
	for i := range s {
		part := &s[i]
		if part.Meta {
			dst = appendPart(dst, part.metadata(env), part.Desc, c)
			continue
		}
		v, plain := stage.PlainPath(d, part.P.Parts())
		if !plain {
			return s.appendArrayKey(dst[:start], env, d, c)
		}
		dst = appendPart(dst, v, part.Desc, c)
	}
	return dst, nil
}

// metadata is the present document's piece of metadata to sort by.
func (part *Part) metadata(env *expr.Env) value.Value {
	v := env.Meta.Get(part.Kind)
	switch {
	case v.IsMissing() && part.Kind == expr.MetaRandVal && env.Rand != nil:
		return value.Double(env.Rand())
	case v.IsMissing() && part.Kind == expr.MetaExpiresAt:
		return value.MaxKey() // it never expires
	case v.IsMissing():
		return value.Null()
	}
	return v
}

func appendPart(dst []byte, v value.Value, desc bool, c value.Collator) []byte {
	if desc {
		return value.AppendKeyDesc(dst, v, c)
	}
	return value.AppendKeyWith(dst, v, c)
}
