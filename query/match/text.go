package match

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/text"
	"github.com/duskdb/duskdb/value"
)

// TextMatcher gives access to the text index that a $text query uses.
type TextMatcher interface {
	// DefaultLanguage is the index's default_language, for queries that name
	// no language.
	DefaultLanguage() string
	// MatchText tests one document and returns its score.
	MatchText(q *text.Query, d value.Doc) (score float64, ok bool)
}

// Text is $text.
type Text struct {
	Query *text.Query
	index TextMatcher
	spec  value.Doc
}

// Children returns nil.
func (n *Text) Children() []Node { return nil }

func (n *Text) rank() int { return rankText }

func (n *Text) shape() uint64 { return uint64(shapeOffset.text("$text")) }

func (n *Text) explain(x *explainer, _ bool) { x.other(n) }

func (n *Text) debug(w *treeWriter, depth int) {
	q := n.Query
	w.line(depth, "TEXT : query=%s, language=%s, caseSensitive=%s, diacriticSensitive=%s, tag=NULL",
		q.Search, q.Language, digit(q.CaseSensitive), digit(q.DiacriticSensitive))
}

// match stores the score in the document's metadata.
func (n *Text) match(env *expr.Env, d value.Doc, _ *int) (bool, error) {
	score, ok := n.index.MatchText(n.Query, d)
	if ok {
		env.Meta.Set(expr.MetaTextScore, value.Double(score))
	}
	return ok, nil
}

func (n *Text) matchValue(*expr.Env, value.Value, *int) (bool, error) { return false, nil }

func (n *Text) appendTo(b *value.Builder) { b.Document("$text", n.spec) }

// parseText parses $text with $search, $language, $caseSensitive and
// $diacriticSensitive.
func parseText(p *parser, e element, nested bool) (Node, error) {
	if nested {
		return nil, mongoerr.New(mongoerr.BadValue, "$text can only be applied to the top-level document")
	}
	if p.o.Text == nil {
		return nil, mongoerr.New(mongoerr.BadValue, "$text is not allowed in this context")
	}
	if e.v.Kind() != value.KindDocument {
		return nil, mongoerr.New(mongoerr.BadValue, "$text expects an object")
	}
	q, err := text.ParseQuery(e.v.Doc(), p.o.Text.DefaultLanguage(), p.interrupt())
	if err != nil {
		return nil, err
	}
	return &Text{Query: q, index: p.o.Text, spec: normalText(q)}, nil
}

// normalText is the query with all options, as explain shows it.
func normalText(q *text.Query) value.Doc {
	return value.NewBuilder().
		String("$search", q.Search).
		String("$language", q.Language).
		Bool("$caseSensitive", q.CaseSensitive).
		Bool("$diacriticSensitive", q.DiacriticSensitive).Doc()
}
