package index

import (
	"maps"
	"slices"
	"strings"

	"github.com/duskdb/duskdb/query/text"
	"github.com/duskdb/duskdb/value"
)

// The two fields that stand for all text fields in a listed key pattern.
const (
	ftsField  = "_fts"
	ftsxField = "_ftsx"
)

const (
	textVersion     = 3
	maxTextWeight   = 1000000000 // exclusive
	defaultLanguage = "english"
	defaultOverride = "language"
)

// TextOptions are the options of a text index.
type TextOptions struct {
	// Weights maps the paths of the text fields to their weights, in order;
	// "$**" stands for all strings.
	Weights          value.Doc
	DefaultLanguage  string
	LanguageOverride string
}

// completeText rewrites the key pattern of a text index to the form with
// _fts and _ftsx and writes out its options.
func completeText(d *specFields) error {
	key, weights, err := textPattern(d.get("key").Doc())
	if err != nil {
		return err
	}
	d.set("key", value.Document(key))
	if weights, err = textWeights(weights, d.get("weights")); err != nil {
		return err
	}
	d.set("weights", value.Document(weightsDoc(weights)))
	language := d.get("default_language")
	if language.IsMissing() {
		language = value.String(defaultLanguage)
	}
	if _, err := text.LookupLanguage(language.Str()); err != nil {
		return cannotCreate("default_language is not valid")
	}
	d.set("default_language", language)
	override := d.get("language_override")
	if override.IsMissing() {
		override = value.String(defaultOverride)
	}
	if s := override.Str(); s == "" || s[0] == '$' || strings.Contains(s, ".") {
		return cannotCreate("language_override is not valid")
	}
	d.set("language_override", override)
	n := int64(textVersion)
	if v := d.get("textIndexVersion"); !v.IsMissing() {
		if n = v.SafeInt64(); n < 1 || n > textVersion {
			return cannotCreate("bad textIndexVersion: %d", n)
		}
	}
	d.remove("textIndexVersion")
	d.set("textIndexVersion", value.Int32(int32(n)))
	return nil
}

// textPattern checks the order of the fields (ordinary ones, then text, then
// ordinary ones) and replaces the text fields.
func textPattern(key value.Doc) (listed value.Doc, weights map[string]int64, err error) {
	b := value.NewBuilder()
	weights = map[string]int64{}
	const before, inside, behind = 0, 1, 2
	state := before
	for name, v := range key.All() {
		isText := v.Kind() == value.KindString || name == ftsxField && state == inside
		switch {
		case !isText && (name == ftsField || name == ftsxField):
			return nil, nil, cannotCreate("text index with reserved fields _fts/_ftsx not allowed")
		case isText && state == behind:
			return nil, nil, cannotCreate("'text' fields in index must all be adjacent")
		case !isText:
			if n, exact := v.AsInt64(); !exact || n != 1 && n != -1 {
				return nil, nil, cannotCreate("expected value 1 or -1 for non-text key in compound index")
			}
			b.Append(name, v)
			if state == inside {
				state = behind
			}
			continue
		}
		if state == before {
			b.String(ftsField, Text.String()).Int32(ftsxField, 1)
			state = inside
		}
		if name != ftsField && name != ftsxField {
			weights[strings.Clone(name)] = 1
		}
	}
	return b.Doc(), weights, nil
}

// textWeights adds the weights of the option weights to those of the key
// pattern.
func textWeights(weights map[string]int64, v value.Value) (map[string]int64, error) {
	switch v.Kind() {
	case value.Missing:
	case value.KindDocument:
		for path, w := range v.Doc().All() {
			if !w.IsNumber() {
				return nil, cannotCreate("weight for text index needs numeric type")
			}
			weights[strings.Clone(path)] = w.SafeInt64()
		}
	case value.KindString:
		if v.Str() != wildcardSuffix {
			return nil, cannotCreate("text index option 'weights' must be an object")
		}
		weights[wildcardSuffix] = 1
	default:
		return nil, cannotCreate("text index option 'weights' must be an object")
	}
	if len(weights) == 0 {
		return nil, cannotCreate("text index option 'weights' must specify fields or the wildcard")
	}
	for _, path := range slices.Sorted(maps.Keys(weights)) {
		if err := checkWeight(path, weights[path]); err != nil {
			return nil, err
		}
	}
	return weights, nil
}

// checkWeight checks the path and the range of one weight.
func checkWeight(path string, w int64) error {
	if w <= 0 || w >= maxTextWeight {
		return cannotCreate("text index weight must be in the exclusive interval (0,%d) but found: %d", maxTextWeight, w)
	}
	if path == wildcardSuffix {
		return nil
	}
	if path == "" {
		return cannotCreate("weight cannot be on an empty field")
	}
	for part := range strings.SplitSeq(path, ".") {
		if part == "" {
			return cannotCreate("weight cannot have empty path component")
		}
		if part[0] == '$' {
			return cannotCreate("weight cannot have path component with $ prefix")
		}
	}
	return nil
}

func weightsDoc(weights map[string]int64) value.Doc {
	paths := make([]string, 0, len(weights))
	for path := range weights {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	b := value.NewBuilder()
	for _, path := range paths {
		b.Int32(path, int32(weights[path]))
	}
	return b.Doc()
}

func textOptions(full value.Doc) TextOptions {
	o := TextOptions{
		Weights:          full.Lookup("weights").Doc(),
		DefaultLanguage:  full.Lookup("default_language").Str(),
		LanguageOverride: full.Lookup("language_override").Str(),
	}
	return o
}

// TextIndex returns the matcher for $text queries; nil if this is not a text
// index.
func (s *Spec) TextIndex() *text.Index { return s.text }

// textCells are the terms of a document with their scores.
func (s *Spec) textCells(d value.Doc) (cells, bool, error) {
	terms, err := s.text.Terms(d)
	if err != nil {
		return nil, false, err
	}
	out := make(cells, len(terms))
	for i, t := range terms {
		out[i] = row{value.String(t.Term), value.Double(t.Score)}
	}
	return out, len(out) > 1, nil
}
