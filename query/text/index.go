package text

import (
	"cmp"
	"slices"
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// Index defines which strings of a document a text index contains, and their
// weights.
type Index struct {
	weights  map[string]float64 // the weights by dotted path
	wildcard bool               // all strings are indexed
	language *Language
	override string // field that names the language of a document
}

// Term is one key of a text index.
type Term struct {
	Term  string
	Score float64
}

// NewIndex returns an Index for the options of a text index: the weights by
// path, with "$**" for all fields, the default language, and the name of the
// field that overrides it.
func NewIndex(weights value.Doc, defaultLanguage, languageOverride string) (*Index, error) {
	language, err := LookupLanguage(cmp.Or(defaultLanguage, "english"))
	if err != nil {
		return nil, mongoerr.New(17264, "default_language is not valid")
	}
	ix := &Index{weights: map[string]float64{}, language: language, override: cmp.Or(languageOverride, "language")}
	for path, w := range weights.All() {
		if path == "$**" {
			ix.wildcard = true
			continue
		}
		ix.weights[strings.Clone(path)] = w.AsDouble()
	}
	return ix, nil
}

// DefaultLanguage is the language of documents and queries that do not name
// one.
func (ix *Index) DefaultLanguage() string { return ix.language.Name }

// field is one indexed string of a document.
type field struct {
	text     string
	language *Language
	weight   float64
}

// fields collects the indexed strings of a document, in order.
func (ix *Index) fields(d value.Doc) ([]field, error) {
	var out []field
	err := ix.walk(d, "", ix.language, false, &out)
	return out, err
}

// walk collects the indexed strings of a document, below prefix, with their
// weights and languages.
func (ix *Index) walk(d value.Doc, prefix string, language *Language, array bool, out *[]field) error {
	if !array {
		if v := d.Lookup(ix.override); !v.IsMissing() {
			if v.Kind() != value.KindString {
				return mongoerr.New(17261, "found language override field in document with non-string type")
			}
			l, err := LookupLanguage(v.Str())
			if err != nil {
				return mongoerr.Newf(17262, "language override unsupported: %s", v.Str())
			}
			language = l
		}
	}
	for name, v := range d.All() {
		path := prefix
		if !array {
			path = join(prefix, name)
		}
		if !array && !hasPath(name) || ix.wildcard && name == ix.override {
			continue // the language override is not indexed
		}
		if array && !ix.wildcard && v.Kind() == value.KindArray {
			continue // paths do not enter nested arrays
		}
		if err := ix.visit(v, path, language, out); err != nil {
			return err
		}
	}
	return nil
}

func (ix *Index) visit(v value.Value, path string, language *Language, out *[]field) error {
	switch v.Kind() {
	case value.KindString:
		if w := ix.weight(path); w > 0 {
			*out = append(*out, field{v.Str(), language, w})
		}
	case value.KindDocument, value.KindArray:
		if ix.leadsOn(path) {
			return ix.walk(v.Doc(), path, language, v.Kind() == value.KindArray, out)
		}
	}
	return nil
}

// hasPath reports whether a path can name a field: its name must not contain a
// dot or begin with a dollar.
func hasPath(name string) bool {
	return !strings.HasPrefix(name, "$") && !strings.Contains(name, ".")
}

func join(prefix, name string) string {
	if prefix == "" {
		return name
	}
	return prefix + "." + name
}

// weight returns 0 for a path that is not indexed. In a wildcard index a path
// without its own weight has weight 1, whatever the weight of "$**" is.
func (ix *Index) weight(path string) float64 {
	if w, ok := ix.weights[path]; ok {
		return w
	}
	if ix.wildcard {
		return 1
	}
	return 0
}

// leadsOn reports whether an indexed path is path or below it.
func (ix *Index) leadsOn(path string) bool {
	if ix.wildcard {
		return true
	}
	for p := range ix.weights {
		if p == path || strings.HasPrefix(p, path) && p[len(path)] == '.' {
			return true
		}
	}
	return false
}

// Terms returns the keys of a document in a text index, in order: each term
// with its score. It fails for an unknown language override.
func (ix *Index) Terms(d value.Doc) ([]Term, error) {
	fields, err := ix.fields(d)
	if err != nil {
		return nil, err
	}
	scores := map[string]float64{}
	for _, f := range fields {
		f.addScores(scores)
	}
	terms := make([]Term, 0, len(scores))
	for t, s := range scores {
		terms = append(terms, Term{t, s})
	}
	slices.SortFunc(terms, func(a, b Term) int { return cmp.Compare(a.Term, b.Term) })
	return terms, nil
}

// occurrence counts one term in one string. Every further occurrence counts
// half of the one before.
type occurrence struct{ count, frequency, halves float64 }

// addScores adds the scores of the terms of one string. A term scores more
// the larger its share of the string, and a tenth more if it is the string.
func (f field) addScores(scores map[string]float64) {
	terms := map[string]*occurrence{}
	total := 0.0
	for t := range f.language.Tokens(f.text, Options{}) {
		o := terms[t]
		if o == nil {
			o = &occurrence{halves: 0.5}
			terms[t] = o
		}
		o.halves *= 2
		o.count++
		o.frequency += 1 / o.halves
		total++
	}
	for t, o := range terms {
		share := 0.5*o.count/total + 0.5
		adjustment := 1.0
		if len(f.text) == len(t) && strings.EqualFold(f.text, t) {
			adjustment = 1.1
		}
		scores[t] += f.weight * o.frequency * share * adjustment
	}
}
