package text

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

func index(t testing.TB, weights string) *Index {
	t.Helper()
	ix, err := NewIndex(value.MustJSON(weights), "english", "language")
	if err != nil {
		t.Fatal(err)
	}
	return ix
}

func query(t testing.TB, spec string) *Query {
	t.Helper()
	q, err := ParseQuery(value.MustJSON(spec), "english", nil)
	if err != nil {
		t.Fatalf("ParseQuery(%s): %v", spec, err)
	}
	return q
}

func TestTokens(t *testing.T) {
	cases := []struct {
		language, in string
		o            Options
		want         []string
	}{
		{"english", "The quick brown foxes are running.", Options{}, []string{"quick", "brown", "fox", "run"}},
		{"english", "blue-berry/pie", Options{}, []string{"blue", "berri", "pie"}},
		{"english", "Café Résumé", Options{}, []string{"cafe", "resume"}},
		{"english", "Café", Options{DiacriticSensitive: true}, []string{"café"}},
		{"english", "Running RUNNING", Options{CaseSensitive: true}, []string{"Run", "RUNNING"}},
		{"english", "  ...", Options{}, nil},
		{"english", ", Is this Anna's cat sleeping? ", Options{KeepStopWords: true}, []string{"is", "this", "anna", "cat", "sleep"}},
		{"none", "The running", Options{}, []string{"the", "running"}},
		{"spanish", "los niños corriendo", Options{}, []string{"nin", "corr"}},
		{"french", "l'école", Options{}, []string{"ecol"}},
		{"french", "«le chien» Voyez-vous", Options{KeepStopWords: true}, []string{"le", "chien", "voi", "vous"}},
		{"french", "parlames parlâmes parlerent parlèrent", Options{}, []string{"parlam", "parl", "parlerent", "parl"}},
		{"french", "etre être énervé", Options{}, []string{"etre", "enerv"}},
		{"french", "etre être énervé", Options{DiacriticSensitive: true}, []string{"etre", "énerv"}},
		{"turkish", "KAÇ YAŞINDASIN, NEREDEN VARDIR", Options{}, []string{"kac", "yas", "nere", "var"}},
		{"turkish", "KAÇ YAŞINDASIN", Options{DiacriticSensitive: true}, []string{"kaç", "yaş"}},
		{"turkish", "YAŞINDASIN SEN VARDIR", Options{CaseSensitive: true}, []string{"YASINDASIN", "VARDIR"}},
		{"danish", "mange bogstaver og undersøgelserne", Options{}, []string{"bogstav", "undersøg"}},
		{"dutch", "lichamelijke opheffingen van de", Options{}, []string{"licham", "opheff"}},
		{"finnish", "edeltäjien ja taloissa", Options{}, []string{"edeltaj", "talo"}},
		{"german", "die aufeinanderfolgenden Häuser", Options{}, []string{"aufeinanderfolg", "haus"}},
		{"hungarian", "a babaháznak és babakocsi", Options{}, []string{"babahaz", "babakocs"}},
		{"italian", "gli abbandonata pronunciare", Options{}, []string{"abbandon", "pronunc"}},
		{"norwegian", "havnedistriktene og opning", Options{}, []string{"havnedistrikt", "opning"}},
		{"portuguese", "as boas quilométricas", Options{}, []string{"boas", "quilometr"}},
		{"romanian", "abruptă si ciobănesc", Options{}, []string{"abrupt", "cioban"}},
		{"romanian", "şi sînt pina plus g", Options{}, []string{"si", "sint"}}, // the list has no diacritics
		{"russian", "важная противоположности", Options{}, []string{"важн", "противоположн"}},
		{"swedish", "jaktkarlarne och klostergården", Options{}, []string{"jaktkarl", "klostergard"}},
	}
	for _, c := range cases {
		l, err := LookupLanguage(c.language)
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Collect(l.Tokens(c.in, c.o)); !slices.Equal(got, c.want) {
			t.Errorf("%s %q: %v, want %v", c.language, c.in, got, c.want)
		}
	}
}

// TestScores expects the scores that MongoDB's manual shows for its examples.
func TestScores(t *testing.T) {
	ix := index(t, `{"subject": 1}`)
	q := query(t, `{"$search": "coffee"}`)
	for subject, want := range map[string]float64{
		"coffee":           1,
		"Coffee Shopping":  0.75,
		"Coffee and cream": 0.75,
		"coffee shop cake": 0.6666666666666666,
	} {
		d := value.NewDoc("subject", value.String(subject))
		if score, ok := ix.MatchText(q, d); !ok || math.Abs(score-want) > 1e-12 {
			t.Errorf("%q scores %v, %v; want %v", subject, score, ok, want)
		}
	}
}

func TestTerms(t *testing.T) {
	cases := []struct {
		weights, doc string
		want         []Term
	}{
		{`{"a": 1}`, `{"a": "cat cat"}`, []Term{{"cat", 1.5}}},
		{`{"a": 10, "b": 1}`, `{"a": "cat", "b": "cat dog"}`, []Term{{"cat", 11.75}, {"dog", 0.75}}},
		{`{"a.b": 1}`, `{"a": [{"b": "cat"}, {"b": ["dog", 5]}], "c": "mouse"}`, []Term{{"cat", 1.1}, {"dog", 1.1}}},
		{`{"$**": 1}`, `{"a": {"x": "cat"}, "b": ["dog"]}`, []Term{{"cat", 1.1}, {"dog", 1.1}}},
		{`{"a": 1}`, `{"a": {"b": "cat"}}`, []Term{}},
		{`{"a": 1}`, `{"a": ["cat", ["dog"]]}`, []Term{{"cat", 1.1}}},
		{`{"$**": 1}`, `{"a": ["cat", ["dog"]]}`, []Term{{"cat", 1.1}, {"dog", 1.1}}},
		{`{"a.b": 1}`, `{"a.b": "cat"}`, []Term{}},
		{`{"$**": 1}`, `{"a.b": "cat", "$a": "dog", "a": {"x.y": "cow"}}`, []Term{}},
		{`{"$**": 1}`, `{"a": "cat", "language": "french"}`, []Term{{"cat", 1.1}}},
		{`{"$**": 10, "b": 3}`, `{"a": "cat", "b": "dog", "c": "cow"}`, []Term{{"cat", 1.1}, {"cow", 1.1}, {"dog", 3.3000000000000003}}},
		{`{"a": 1, "a.b": 2}`, `{"a": [{"b": "cat"}, "dog"]}`, []Term{{"cat", 2.2}, {"dog", 1.1}}},
		{`{"a.b": 1}`, `{"language": "none", "a": [{"b": "cats", "language": "en"}, {"b": "dogs"}]}`, []Term{{"cat", 1}, {"dogs", 1.1}}},
		{`{"a": 1}`, `{"a": "los gatos", "language": "spanish"}`, []Term{{"gat", 1}}},
		{`{"a": 1}`, `{"a": "the"}`, []Term{}},
	}
	for _, c := range cases {
		got, err := index(t, c.weights).Terms(value.MustJSON(c.doc))
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s %s: %v, %v; want %v", c.weights, c.doc, got, err, c.want)
		}
	}
}

func TestParseQuery(t *testing.T) {
	cases := []struct {
		search                       string
		terms, negated, phrases, nph []string
	}{
		{`bake coffee cake`, []string{"bake", "cake", "coffe"}, nil, nil, nil},
		{`coffee -shop`, []string{"coffe"}, []string{"shop"}, nil, nil},
		{`coffee - shop`, []string{"coffe", "shop"}, nil, nil, nil},
		{`pre-market`, []string{"market", "pre"}, nil, nil, nil},
		{`-foo-bar baz`, []string{"baz"}, []string{"bar", "foo"}, nil, nil},
		{`"coffee shop"`, []string{"coffe", "shop"}, nil, []string{"coffee shop"}, nil},
		{`cake -"coffee shop"`, []string{"cake"}, nil, nil, []string{"coffee shop"}},
		{`"coffee shop" cake "tea"`, []string{"cake", "coffe", "shop", "tea"}, nil, []string{"coffee shop", "tea"}, nil},
		{`"open`, []string{"open"}, nil, nil, nil},
		{``, nil, nil, nil, nil},
	}
	for _, c := range cases {
		q, err := ParseQuery(value.NewDoc("$search", value.String(c.search)), "english", nil)
		if err != nil {
			t.Fatal(err)
		}
		got := [][]string{q.Terms, q.NegatedTerms, q.Phrases, q.NegatedPhrases}
		want := [][]string{c.terms, c.negated, c.phrases, c.nph}
		for i := range got {
			if !slices.Equal(got[i], want[i]) {
				t.Errorf("%q: %v, want %v", c.search, got, want)
				break
			}
		}
	}
}

func TestMatch(t *testing.T) {
	ix := index(t, `{"subject": 1, "body": 1}`)
	cases := []struct {
		query    string
		yes, nos []string
	}{
		{`{"$search": "coffee"}`, []string{`{"subject": "Coffee"}`, `{"body": "the COFFEES"}`}, []string{`{"subject": "tea"}`, `{"title": "coffee"}`}},
		{`{"$search": "bake coffee cake"}`, []string{`{"subject": "cake"}`, `{"subject": "Baking"}`}, []string{`{"subject": "tea"}`}},
		{`{"$search": "coffee -shop"}`, []string{`{"subject": "coffee"}`}, []string{`{"subject": "coffee shop"}`, `{"subject": "coffee", "body": "shops"}`}},
		{`{"$search": "\"coffee shop\""}`, []string{`{"subject": "The Coffee Shop"}`}, []string{`{"subject": "coffee and shop"}`}},
		{`{"$search": "coffee -\"coffee shop\""}`, []string{`{"subject": "shop coffee"}`}, []string{`{"subject": "coffee shop"}`}},
		{`{"$search": "Coffee", "$caseSensitive": true}`, []string{`{"subject": "Coffee"}`}, []string{`{"subject": "coffee"}`}},
		{`{"$search": "cafe"}`, []string{`{"subject": "Café"}`}, nil},
		{`{"$search": "café", "$diacriticSensitive": true}`, []string{`{"subject": "Café"}`}, []string{`{"subject": "cafe"}`}},
		{`{"$search": "-coffee"}`, nil, []string{`{"subject": "tea"}`}},
		{`{"$search": "the"}`, nil, []string{`{"subject": "the"}`}},
		{`{"$search": "leche", "$language": "es"}`, []string{`{"subject": "leche", "language": "spanish"}`}, []string{`{"subject": "tea"}`}},
	}
	for _, c := range cases {
		q := query(t, c.query)
		for _, d := range c.yes {
			if _, ok := ix.MatchText(q, value.MustJSON(d)); !ok {
				t.Errorf("%s does not match %s", c.query, d)
			}
		}
		for _, d := range c.nos {
			if _, ok := ix.MatchText(q, value.MustJSON(d)); ok {
				t.Errorf("%s matches %s", c.query, d)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	cases := []struct {
		spec    string
		code    mongoerr.Code
		message string
	}{
		{`{}`, mongoerr.NoSuchKey, `Missing expected field "$search"`},
		{`{"$search": 1}`, mongoerr.TypeMismatch, `"$search" had the wrong type. Expected string, found int`},
		{`{"$search": "a", "$caseSensitive": 1}`, mongoerr.TypeMismatch, `"$caseSensitive" had the wrong type. Expected bool, found int`},
		{`{"$search": "a", "x": 1}`, mongoerr.BadValue, "extra fields in $text"},
		{`{"$search": "a", "$language": "spanglish"}`, mongoerr.BadValue, `unsupported language: "spanglish" for text index version 3`},
	}
	for _, c := range cases {
		_, err := ParseQuery(value.MustJSON(c.spec), "english", nil)
		if e := mongoerr.From(err); e == nil || e.Code != c.code || e.Message != c.message {
			t.Errorf("%s: got %v, want %d %s", c.spec, err, c.code, c.message)
		}
	}
	ix := index(t, `{"a": 1}`)
	if _, err := ix.Terms(value.MustJSON(`{"a": "x", "language": 5}`)); mongoerr.CodeOf(err) != 17261 {
		t.Errorf("override of a wrong type: %v", err)
	}
	if _, err := ix.Terms(value.MustJSON(`{"a": "x", "language": "spanglish"}`)); mongoerr.CodeOf(err) != 17262 {
		t.Errorf("unknown override: %v", err)
	}
	if _, err := NewIndex(value.EmptyDoc, "spanglish", ""); mongoerr.CodeOf(err) != 17264 {
		t.Errorf("unknown default language: %v", err)
	}
}

func FuzzSearch(f *testing.F) {
	f.Add(`coffee -shop "a b`, "Coffee, the shop's café")
	f.Fuzz(func(t *testing.T, search, text string) {
		q, err := ParseQuery(value.NewDoc("$search", value.String(search)), "english", nil)
		if err != nil {
			t.Fatal(err)
		}
		ix := index(t, `{"$**": 1}`)
		ix.MatchText(q, value.NewDoc("a", value.String(text)))
	})
}
