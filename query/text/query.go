package text

import (
	"maps"
	"slices"
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// Query is a parsed $text query.
type Query struct {
	Search, Language                  string
	CaseSensitive, DiacriticSensitive bool

	// Bounds are the terms to look up in the index, in order: those of the
	// search without case and diacritics.
	Bounds []string
	// Terms are the alternatives: a document must have at least one. NegatedTerms are
	// the terms that it must not have. Both are in the case sensitivity of the query.
	Terms, NegatedTerms []string
	// Phrases must all occur, NegatedPhrases may not.
	Phrases, NegatedPhrases []string
}

// ParseQuery parses the argument of $text. interrupt returns an error when the operation has
// to end, which a search of a million words may outlast; nil: never.
func ParseQuery(d value.Doc, defaultLanguage string, interrupt func() error) (*Query, error) {
	q := &Query{Language: defaultLanguage}
	var err error
	if !d.Has("$search") {
		return nil, mongoerr.New(mongoerr.NoSuchKey, `Missing expected field "$search"`)
	}
	for name, v := range d.All() {
		switch name {
		case "$search":
			q.Search, err = stringOption(name, v)
		case "$language":
			q.Language, err = stringOption(name, v)
		case "$caseSensitive":
			q.CaseSensitive, err = boolOption(name, v)
		case "$diacriticSensitive":
			q.DiacriticSensitive, err = boolOption(name, v)
		default:
			err = mongoerr.New(mongoerr.BadValue, "extra fields in $text")
		}
		if err != nil {
			return nil, err
		}
	}
	if q.Language == "" {
		q.Language = defaultLanguage
	}
	language, err := LookupLanguage(q.Language)
	if err != nil {
		return nil, err
	}
	q.Language = language.Name
	if err := q.parse(language, interrupt); err != nil {
		return nil, err
	}
	return q, nil
}

func stringOption(name string, v value.Value) (string, error) {
	if v.Kind() != value.KindString {
		return "", wrongType(name, "string", v)
	}
	return v.Str(), nil
}

func boolOption(name string, v value.Value) (bool, error) {
	if v.Kind() != value.KindBool {
		return false, wrongType(name, "bool", v)
	}
	return v.Bool(), nil
}

func wrongType(name, expected string, v value.Value) error {
	return mongoerr.Newf(mongoerr.TypeMismatch, `"%s" had the wrong type. Expected %s, found %s`, name, expected, v.Kind())
}

// syntax is the state of a parser of the search string: a dash after white
// space negates the text up to the next white space, quotes form phrases.
type syntax struct {
	q                  *Query
	positive, negative strings.Builder
	negated            bool
	phraseAt           int // start of the open phrase, or -1
}

// parse splits the search string into words, phrases and negations.
func (q *Query) parse(language *Language, interrupt func() error) error {
	s := syntax{q: q, phraseAt: -1}
	afterSpace := true
	wordAt := -1
	for i, r := range q.Search + " " {
		delimiter := r == '-' || r == '"' || isSpace(r) || r < 0x80 && isPunct(r)
		if !delimiter {
			if wordAt < 0 {
				wordAt = i
				s.startOfWord(afterSpace)
			}
			continue
		}
		if wordAt >= 0 {
			s.word(q.Search[wordAt:i])
			wordAt = -1
			afterSpace = false
		}
		switch {
		case i == len(q.Search):
		case r == '-':
			if s.phraseAt < 0 && afterSpace {
				s.negated = true
			}
		case r == '"':
			s.quote(i, afterSpace)
		}
		afterSpace = isSpace(r)
	}
	return s.finish(language, interrupt)
}

func isSpace(r rune) bool { return strings.ContainsRune(" \t\n\r\v\f\x00", r) }

// isPunct lists the ASCII delimiters of a search string; the apostrophe and
// the underscore belong to words.
func isPunct(r rune) bool { return strings.ContainsRune("!#$%&()*+,./:;<=>?@[\\]^`{|}~", r) }

// startOfWord ends a negation that is followed by white space: "- foo".
func (s *syntax) startOfWord(afterSpace bool) {
	if s.phraseAt < 0 && s.negated && afterSpace {
		s.negated = false
	}
}

// word adds a word. Words of negated phrases are not terms: only the whole
// phrase is excluded.
func (s *syntax) word(w string) {
	switch {
	case s.negated && s.phraseAt >= 0:
	case s.negated:
		s.negative.WriteString(w + " ")
	default:
		s.positive.WriteString(w + " ")
	}
}

// quote opens or closes a phrase.
func (s *syntax) quote(at int, afterSpace bool) {
	if s.phraseAt < 0 {
		if s.negated && afterSpace {
			s.negated = false
		}
		s.phraseAt = at + 1
		return
	}
	phrase := s.q.Search[s.phraseAt:at]
	if s.negated {
		s.q.NegatedPhrases = append(s.q.NegatedPhrases, phrase)
	} else {
		s.q.Phrases = append(s.q.Phrases, phrase)
	}
	s.phraseAt = -1
}

// finish splits the collected words into terms as the index does.
func (s *syntax) finish(language *Language, interrupt func() error) (err error) {
	if s.q.Bounds, err = terms(language, s.positive.String(), Options{}, interrupt); err != nil {
		return err
	}
	o := s.q.options()
	if s.q.Terms = s.q.Bounds; o != (Options{}) {
		if s.q.Terms, err = terms(language, s.positive.String(), o, interrupt); err != nil {
			return err
		}
	}
	s.q.NegatedTerms, err = terms(language, s.negative.String(), o, interrupt)
	return err
}

func (q *Query) options() Options {
	return Options{CaseSensitive: q.CaseSensitive, DiacriticSensitive: q.DiacriticSensitive}
}

func terms(language *Language, sentence string, o Options, interrupt func() error) ([]string, error) {
	set := map[string]bool{}
	n := 0
	for t := range language.Tokens(sentence, o) {
		set[t] = true
		if n++; n%1000 == 0 && interrupt != nil {
			if err := interrupt(); err != nil {
				return nil, err
			}
		}
	}
	return slices.Sorted(maps.Keys(set)), nil
}

// MatchText matches a document: it must have one of the terms, none of the
// negated ones, all phrases and no negated phrase. The score is the sum of the
// index scores of the search terms.
func (ix *Index) MatchText(q *Query, d value.Doc) (score float64, ok bool) {
	fields, err := ix.fields(d)
	if err != nil || !q.hasTerms(fields) || !q.hasPhrases(fields) {
		return 0, false
	}
	scores := map[string]float64{}
	for _, f := range fields {
		f.addScores(scores)
	}
	for _, t := range q.Bounds {
		score += scores[t]
	}
	return score, true
}

// hasTerms reports whether the fields have one of the terms and none of the
// negated ones.
func (q *Query) hasTerms(fields []field) bool {
	o := q.options()
	o.KeepStopWords = true
	found := false
	for _, f := range fields {
		for t := range f.language.Tokens(f.text, o) {
			if _, negated := slices.BinarySearch(q.NegatedTerms, t); negated {
				return false
			}
			if !found {
				_, found = slices.BinarySearch(q.Terms, t)
			}
		}
	}
	return found
}

func (q *Query) hasPhrases(fields []field) bool {
	for _, p := range q.Phrases {
		if !q.hasPhrase(fields, p) {
			return false
		}
	}
	for _, p := range q.NegatedPhrases {
		if q.hasPhrase(fields, p) {
			return false
		}
	}
	return true
}

func (q *Query) hasPhrase(fields []field, phrase string) bool {
	o := q.options()
	for _, f := range fields {
		if strings.Contains(o.fold(f.language, f.text), o.fold(f.language, phrase)) {
			return true
		}
	}
	return false
}
