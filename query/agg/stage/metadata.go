package stage

import (
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// MetaDoc is a document with its metadata.
type MetaDoc struct {
	Doc  value.Doc
	Meta expr.Meta
}

// MetaDocs iterates over documents and makes their metadata current.
func MetaDocs(env *expr.Env, docs []MetaDoc) Iterator {
	return Pull(nil, func() (value.Doc, error) {
		if len(docs) == 0 {
			return nil, nil
		}
		d := docs[0]
		docs = docs[1:]
		env.Meta = d.Meta
		return d.Doc, nil
	})
}

// AppendMeta writes metadata as a document.
func AppendMeta(dst []byte, m expr.Meta) []byte {
	if m.IsEmpty() {
		return append(dst, value.EmptyDoc...)
	}
	var b value.Builder
	b.Reset(dst)
	for k := expr.MetaTextScore; k <= expr.MetaExpiresAt; k++ {
		b.Append(string(rune('a'+k)), m.Get(k))
	}
	b.Doc()
	return b.Bytes()
}

// SplitMeta reads what AppendMeta wrote in front of a document.
func SplitMeta(b []byte) (expr.Meta, value.Doc) {
	n := int(b[0]) | int(b[1])<<8 | int(b[2])<<16 | int(b[3])<<24
	var m expr.Meta
	for k, v := range value.Doc(b[:n]).All() {
		m.Set(expr.MetaKind(k[0]-'a'), v)
	}
	return m, value.Doc(b[n:])
}
