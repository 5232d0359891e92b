package agg

import (
	"strings"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// maxSortParts is how many fields a sort may have.
const maxSortParts = 32

// sortPattern is {a: 1, b: -1, score: {$meta: "textScore"}}.
type sortPattern []sortPart

type sortPart struct {
	path string
	p    value.Path
	desc bool
	meta bool // by metadata instead of the path
	kind expr.MetaKind
	name string // of the metadata
}

// sortMeta are the metadata a sort may use.
var sortMeta = map[string]expr.MetaKind{
	"geoNearDistance":   expr.MetaGeoNearDistance,
	"randVal":           expr.MetaRandVal,
	"searchScore":       expr.MetaSearchScore,
	"textScore":         expr.MetaTextScore,
	"vectorSearchScore": expr.MetaVectorSearchScore,
}

// parseSortPattern reads the specification of a sort.
func parseSortPattern(d value.Doc) (sortPattern, error) {
	var pattern sortPattern
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
		if !part.meta {
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

func parseSortPart(k string, v value.Value) (sortPart, error) {
	part := sortPart{path: strings.Clone(k)}
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
			return part, mongoerr.Newf(31138, "Illegal $meta sort: $meta: %s", arg)
		}
		part.meta, part.kind, part.name = true, kind, strings.Clone(arg.Str())
		part.desc = part.name != "geoNearDistance" // scores sort best first
		return part, nil
	}
	if !v.IsNumber() {
		return part, mongoerr.Newf(15974, "Illegal key in $sort specification: %s: %s", k, v)
	}
	switch v.SafeInt64() {
	case 1:
	case -1:
		part.desc = true
	default:
		return part, mongoerr.New(15975, "$sort key ordering must be 1 (for ascending) or -1 (for descending)")
	}
	part.p = value.ParsePath(part.path)
	return part, checkFieldPath(part.path)
}

// doc is the pattern as a document.
func (s sortPattern) doc() value.Doc {
	b := value.NewBuilder()
	for _, part := range s {
		switch {
		case part.meta:
			b.StartDocument(part.path).String("$meta", part.name).End()
		case part.desc:
			b.Int32(part.path, -1)
		default:
			b.Int32(part.path, 1)
		}
	}
	return b.Doc()
}

// metaOnly reports whether any part sorts by metadata, which no index can.
func (s sortPattern) metaOnly() bool {
	for _, part := range s {
		if part.meta {
			return true
		}
	}
	return false
}

func (s sortPattern) deps(d *deps) {
	for _, part := range s {
		if !part.meta {
			d.add(part.path)
		}
	}
}

// extends reports whether sorting by s also sorts by prefix.
func (s sortPattern) extends(prefix sortPattern) bool {
	if len(prefix) > len(s) {
		return false
	}
	for i, part := range prefix {
		if s[i].path != part.path || s[i].desc != part.desc || s[i].meta || part.meta {
			return false
		}
	}
	return true
}

// appendKey appends the key of a document: bytes whose order is the order of
// the sort.
func (s sortPattern) appendKey(dst []byte, env *expr.Env, d value.Doc, c value.Collator) ([]byte, error) {
	start := len(dst)
	for i := range s {
		part := &s[i]
		if part.meta {
			dst = appendPart(dst, part.metadata(env), part.desc, c)
			continue
		}
		v, plain := plainPath(d, part.p.Parts())
		if !plain {
			return s.appendArrayKey(dst[:start], env, d, c)
		}
		dst = appendPart(dst, v, part.desc, c)
	}
	return dst, nil
}

// metadata is the present document's piece of metadata to sort by.
func (part *sortPart) metadata(env *expr.Env) value.Value {
	v := env.Meta.Get(part.kind)
	switch {
	case v.IsMissing() && part.kind == expr.MetaRandVal && env.Rand != nil:
		return value.Double(env.Rand())
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
