package match

import (
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// TextCompiler compiles the argument of $text against the collection's text
// index.
type TextCompiler interface {
	CompileText(query value.Doc) (TextMatcher, error)
}

// TextMatcher judges documents for one $text query. It may leave the score in
// env.Meta.
type TextMatcher interface {
	MatchText(env *expr.Env, d value.Doc) (bool, error)
}
