package collation

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

var _ value.Collator = (*Collation)(nil)

func parse(t testing.TB, spec string) *Collation {
	t.Helper()
	c, err := Parse(value.MustJSON(spec))
	if err != nil {
		t.Fatalf("Parse(%s): %v", spec, err)
	}
	return c
}

func TestSimple(t *testing.T) {
	for _, spec := range []string{`{}`, `{"locale": "simple"}`} {
		if c := parse(t, spec); c != nil {
			t.Errorf("Parse(%s) = %v, want nil", spec, c.Doc())
		}
	}
}

func TestNilIsSimple(t *testing.T) {
	var c *Collation
	if c.Collator() != nil || c.Compare("a", "B") <= 0 || string(c.AppendKey(nil, "x")) != "x" || !c.Equal(nil) {
		t.Error("a nil collation does not compare bytes")
	}
	if got := c.Doc().String(); got != `{ locale: "simple" }` {
		t.Errorf("Doc is %s", got)
	}
	if en := parse(t, `{"locale": "en"}`); en.Collator() == nil || en.Equal(c) || !en.Equal(parse(t, `{"locale": "en", "strength": 3}`)) {
		t.Error("different collations are equal, or equal ones different")
	}
}

func ones(n int) string  { return strings.Repeat("1", n) }
func nines(n int) string { return strings.Repeat("9", n) }

// TestOrder lists strings in ascending order; "=" joins equal ones.
func TestOrder(t *testing.T) {
	cases := []struct{ spec, order string }{
		{`{"locale": "en"}`, "a A á Á b"},
		{`{"locale": "en", "strength": 1}`, "a=A=á b"},
		{`{"locale": "en", "strength": 2}`, "a=A á=Á b=B"},
		{`{"locale": "en", "strength": 1, "caseLevel": true}`, "a=á A=Á b B"},
		{`{"locale": "en", "strength": 2, "caseLevel": true}`, "a A á Á b"},
		{`{"locale": "en", "caseFirst": "upper"}`, "A a Á á B b"},
		{`{"locale": "en", "caseFirst": "lower"}`, "a A á Á b B"},
		{`{"locale": "en"}`, "1 10 2"},
		{`{"locale": "en", "numericOrdering": true}`, "1 2 10 a1 a2 a10"},
		{`{"locale": "en", "numericOrdering": true}`, "2=02 3"},
		{`{"locale": "en", "numericOrdering": true}`, ones(253) + " " + nines(253) + " " + ones(254) + " " + ones(255) + " " + nines(254)},
		{`{"locale": "en", "numericOrdering": true}`, "x" + strings.Repeat("0", 300) + "7=x7 x8 x" + ones(600) + "y x" + ones(508) + "y"},
		{`{"locale": "en", "strength": 4, "alternate": "shifted"}`, "a-b a\u200bb=ab=a\u200db=a\ufeffb=a\u0001b"},
		{`{"locale": "en", "strength": 5, "alternate": "shifted"}`, "ab a\u200bb a\u200db"},
		{`{"locale": "ja", "strength": 3}`, "あ=ア い=イ か"},
		{`{"locale": "ja", "strength": 4}`, "あ ア ああ あア アあ アア い イ か"},
		{`{"locale": "ja", "strength": 4, "alternate": "shifted"}`, "あ ア あ-い い"},
		{`{"locale": "ja", "strength": 5}`, "あ ア い"},
		{`{"locale": "fr"}`, "cote coté côte côté"},
		{`{"locale": "fr", "backwards": true}`, "cote côte coté côté"},
		{`{"locale": "fr_CA"}`, "cote côte coté côté"},
		{`{"locale": "en"}`, "-b a-b ab"},
		{`{"locale": "en", "alternate": "shifted"}`, "a-b=ab=a_b b"},
		{`{"locale": "en", "alternate": "shifted", "strength": 4}`, "a-b ab b"},
		{`{"locale": "en", "alternate": "shifted", "maxVariable": "space"}`, "a-b ab b"},
		{`{"locale": "sv"}`, "a z å ä ö"},
		{`{"locale": "de"}`, "a ä ad af z"},
		{`{"locale": "de@collation=phonebook"}`, "ad ä af z"},
		{`{"locale": "de_AT"}`, "a ä az b"},
		{`{"locale": "de_AT@collation=phonebook"}`, "az Az ä=a\u0308 Ä=A\u0308 äa ba oz ö Ö p ssz ß ẞ st uz ü Ü v"},
		{`{"locale": "de_AT@collation=phonebook", "strength": 2}`, "a=A ä=Ä b ss ß=ẞ"},
		{`{"locale": "de_AT@collation=phonebook", "strength": 5}`, "ä ⱥ"},
		{`{"locale": "da"}`, "A a Z z Æ æ Ø ø Å å"},
		{`{"locale": "da", "strength": 1, "caseFirst": "off"}`, "a=A z æ=Æ ø å=aa"},
		{`{"locale": "da", "strength": 1, "caseLevel": true}`, "A=Á a=á B b"},
		{`{"locale": "ru"}`, "г Г ѓ Ѓ д и і ї й Й"},
		{`{"locale": "ru"}`, "ї=\u0456\u0308 й=\u0438\u0306"},
		{`{"locale": "en"}`, "1 a z я"},
		{`{"locale": "ru"}`, "- 1 а я a z ω"},
		{`{"locale": "el"}`, "1 α ω a z я"},
		{`{"locale": "zh"}`, "1 阿 中 a"},
		{`{"locale": "ko"}`, "1 가 a"},
		{`{"locale": "ru", "strength": 1}`, "а=А б=Б a=A"},
		{`{"locale": "en", "strength": 5}`, "a A"},
		{`{"locale": "en"}`, "é=é"},
		{`{"locale": "en", "strength": 5}`, "é=é"},
	}
	for _, c := range cases {
		coll := parse(t, c.spec)
		groups := strings.Fields(c.order)
		for i, g := range groups {
			equal := strings.Split(g, "=")
			for _, e := range equal {
				if d := coll.Compare(equal[0], e); d != 0 {
					t.Errorf("%s: %q and %q compare as %d", c.spec, equal[0], e, d)
				}
			}
			if i > 0 {
				before := strings.Split(groups[i-1], "=")[0]
				if coll.Compare(before, g0(g)) >= 0 || coll.Compare(g0(g), before) <= 0 {
					t.Errorf("%s: %q is not before %q", c.spec, before, g)
				}
			}
		}
	}
}

func g0(group string) string { return strings.Split(group, "=")[0] }

func TestDoc(t *testing.T) {
	cases := []struct{ spec, want string }{
		{`{"locale": "en", "strength": 2.0}`, `{ locale: "en", caseLevel: false, caseFirst: "off", strength: 2, numericOrdering: false, alternate: "non-ignorable", maxVariable: "punct", normalization: false, backwards: false, version: "57.1" }`},
		{`{"locale": "fr_CA"}`, `{ locale: "fr_CA", caseLevel: false, caseFirst: "off", strength: 3, numericOrdering: false, alternate: "non-ignorable", maxVariable: "punct", normalization: false, backwards: true, version: "57.1" }`},
	}
	for _, c := range cases {
		got := parse(t, c.spec).Doc()
		if got.String() != c.want {
			t.Errorf("Doc of %s:\n got %v\nwant %s", c.spec, got, c.want)
		}
		again, err := Parse(got)
		if err != nil || !bytes.Equal(again.Doc(), got) {
			t.Errorf("the full document %v does not parse back: %v", got, err)
		}
	}
}

func TestErrors(t *testing.T) {
	cases := []struct {
		spec    string
		code    mongoerr.Code
		message string
	}{
		{`{"strength": 1}`, 40414, "BSON field 'collation.locale' is missing but a required field"},
		{`{"locale": 1}`, mongoerr.TypeMismatch, "BSON field 'collation.locale' is the wrong type 'int', expected type 'string'"},
		{`{"locale": ""}`, mongoerr.BadValue, `Field 'locale' cannot be the empty string in: { locale: "" }`},
		{`{"locale": "xx"}`, mongoerr.BadValue, `Field 'locale' is invalid in: { locale: "xx" }`},
		{`{"locale": "en-US"}`, mongoerr.BadValue, `Field 'locale' is invalid in: { locale: "en-US" }. Did you mean 'en_US'?`},
		{`{"locale": "en", "x": 1}`, 40415, "BSON field 'collation.x' is an unknown field."},
		{`{"locale": "en", "strength": 6}`, 2, "BSON field 'strength' value must be <= 5, actual value '6'"},
		{`{"locale": "en", "strength": 0}`, 2, "Enumeration value '0' for field 'collation.strength' is not a valid value."},
		{`{"locale": "en", "strength": -1}`, 2, "BSON field 'strength' value must be >= 0, actual value '-1'"},
		{`{"locale": "en", "strength": "2"}`, mongoerr.TypeMismatch, "BSON field 'collation.strength' is the wrong type 'string', expected types '[long, int, decimal, double]'"},
		{`{"locale": null}`, 40414, "BSON field 'collation.locale' is missing but a required field"},
		{`{"locale": "en", "caseLevel": 1}`, mongoerr.TypeMismatch, "BSON field 'collation.caseLevel' is the wrong type 'int', expected type 'bool'"},
		{`{"locale": "en", "numericOrdering": "x"}`, mongoerr.TypeMismatch, "BSON field 'collation.numericOrdering' is the wrong type 'string', expected type 'bool'"},
		{`{"locale": "en", "backwards": "x"}`, mongoerr.TypeMismatch, "Field 'backwards' should be a boolean value, but found: string"},
		{`{"locale": "en", "backwards": null}`, mongoerr.TypeMismatch, "Field 'backwards' should be a boolean value, but found: null"},
		{`{"locale": "en", "caseFirst": "x"}`, mongoerr.BadValue, "Enumeration value 'x' for field 'collation.caseFirst' is not a valid value."},
		{`{"locale": "en", "backwards": true, "strength": 1}`, mongoerr.BadValue, `'backwards' is invalid with 'strength' of 1 in: { locale: "en", backwards: true, strength: 1 }`},
		{`{"locale": "en", "caseFirst": "upper", "strength": 2}`, mongoerr.BadValue, `'caseFirst' is invalid unless 'caseLevel' is on or 'strength' is greater than 2 in: { locale: "en", caseFirst: "upper", strength: 2 }`},
		// The options that a locale implies count, too.
		{`{"locale": "da", "strength": 1}`, mongoerr.BadValue, `'caseFirst' is invalid unless 'caseLevel' is on or 'strength' is greater than 2 in: { locale: "da", strength: 1 }`},
		{`{"locale": "mt", "strength": 2}`, mongoerr.BadValue, `'caseFirst' is invalid unless 'caseLevel' is on or 'strength' is greater than 2`},
		{`{"locale": "fr_CA", "strength": 1}`, mongoerr.BadValue, `'backwards' is invalid with 'strength' of 1`},
		{`{"locale": "zh@collation=pinyin"}`, mongoerr.BadValue, `Field 'locale' is invalid in: { locale: "zh@collation=pinyin" }. Did you mean 'zh'?`},
		{`{"locale": "fi@collation=standard"}`, mongoerr.BadValue, `Field 'locale' is invalid in: { locale: "fi@collation=standard" }. Did you mean 'fi'?`},
		{`{"locale": "x_invalid"}`, mongoerr.BadValue, `Field 'locale' is invalid in: { locale: "x_invalid" }`},
		{`{"locale": "i-invalid"}`, mongoerr.BadValue, `Field 'locale' is invalid in: { locale: "i-invalid" }`},
		{`{"locale": "en", "version": "1"}`, mongoerr.IncompatibleCollationVersion, "Requested collation version 1 but the only available collator version was 57.1"},
		{`{"locale": "es@collation=traditional"}`, mongoerr.OperationFailed, `Failed to create collator: U_UNSUPPORTED_ERROR. Collation spec: { locale: "es@collation=traditional" }`},
	}
	for _, c := range cases {
		_, err := Parse(value.MustJSON(c.spec))
		if e := mongoerr.From(err); e == nil || e.Code != c.code || !strings.HasPrefix(e.Message, c.message) {
			t.Errorf("Parse(%s)\n got %v\nwant %d %s", c.spec, err, c.code, c.message)
		}
	}
}

func TestEveryLocaleOpens(t *testing.T) {
	for name := range locales {
		if untabled[name] {
			continue
		}
		c := parse(t, `{"locale": "`+name+`"}`)
		if c.Compare("a", "b") >= 0 {
			t.Errorf("%s: a is not before b", name)
		}
	}
}

// TestKeysAgree checks that the order by keys is the order by Compare, for
// all options.
func TestKeysAgree(t *testing.T) {
	letters := rapid.StringOfN(rapid.SampledFrom([]rune("aAáÁbB1209 -_.éß世\x00")), 0, 6, -1)
	rapid.Check(t, func(t *rapid.T) {
		spec := value.NewBuilder().
			String("locale", rapid.SampledFrom([]string{"en", "fr_CA", "sv", "ja"}).Draw(t, "locale")).
			Int32("strength", rapid.Int32Range(3, 5).Draw(t, "strength")).
			Bool("caseLevel", rapid.Bool().Draw(t, "caseLevel")).
			Bool("numericOrdering", rapid.Bool().Draw(t, "numeric")).
			String("caseFirst", rapid.SampledFrom([]string{"upper", "lower", "off"}).Draw(t, "first")).
			String("alternate", rapid.SampledFrom([]string{"shifted", "non-ignorable"}).Draw(t, "alternate")).Doc()
		c, err := Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		a, b := letters.Draw(t, "a"), letters.Draw(t, "b")
		byKey := bytes.Compare(c.AppendKey(nil, a), c.AppendKey(nil, b))
		if order := c.Compare(a, b); order != byKey || order != -c.Compare(b, a) {
			t.Fatalf("Compare %d, keys %d", order, byKey)
		}
	})
}

func TestConcurrentUse(t *testing.T) {
	c := parse(t, `{"locale": "fr"}`)
	want := []string{"cote", "coté", "côte", "côté"}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				got := []string{"côté", "cote", "côte", "coté"}
				slices.SortFunc(got, c.Compare)
				if !slices.Equal(got, want) {
					t.Errorf("got %v", got)
					return
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkCompare(b *testing.B) {
	c := parse(b, `{"locale": "en", "strength": 2}`)
	b.ReportAllocs()
	for b.Loop() {
		c.Compare("The quick brown fox", "the quick brown dog")
	}
}

// null stands for an absent option, but for backwards, which is an optional bool of another
// kind in mongod.
func TestNullOptions(t *testing.T) {
	for name := range fields {
		_, err := Parse(value.MustJSON(`{"locale": "en", "` + name + `": null}`))
		switch {
		case name == "locale":
		case name != "backwards" && err != nil:
			t.Errorf("%s: %v", name, err)
		case name == "backwards" && (err == nil || !mongoerr.Is(err, mongoerr.TypeMismatch)):
			t.Errorf("backwards: %v", err)
		}
	}
}
