package relaxed

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/value"
)

func TestJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{a: 1, $b.c : 'x', "d":-1.5e3}`:              `{"a": 1, "$b.c" : "x", "d":-1.5e3}`,
		`{a:true,b:null,c:[false]}`:                   `{"a":true,"b":null,"c":[false]}`,
		`{a: ", word: 1", b: '{x: 1}'}`:               `{"a": ", word: 1", "b": "{x: 1}"}`,
		`{a: "it's", b: 'say "x"', c: 'it\'s'}`:       `{"a": "it's", "b": "say \"x\"", "c": "it's"}`,
		`{a: "\"b: 1\\", c: 1}`:                       `{"a": "\"b: 1\\", "c": 1}`,
		`{a: long(5), b: NumberLong("-5")}`:           `{"a": {"$numberLong":"5"}, "b": {"$numberLong":"-5"}}`,
		`{a: ISODate("2024-01-01"), b: ms(-7)}`:       `{"a": {"$date":"2024-01-01"}, "b": {"$date":{"$numberLong":"-7"}}}`,
		`[dec('1.5'), dbl('NaN'), Double("1")]`:       `[{"$numberDecimal":"1.5"}, {"$numberDouble":"NaN"}, {"$numberDouble":"1"}]`,
		`[ts(1, 2), bin(0,'AAA='), re('^a,b(c)','')]`: `[{"$timestamp":{"t":1,"i":2}}, {"$binary":{"subType":"0","base64":"AAA="}}, {"$regularExpression":{"pattern":"^a,b(c)","options":""}}]`,
		`[nan, undef, minkey, maxkey, 'nan']`:         `[{"$numberDouble":"NaN"}, {"$undefined":true}, {"$minKey":1}, {"$maxKey":1}, "nan"]`,
		`{nan: 1, long: 2, date: {a-b: 1}}`:           `{"nan": 1, "long": 2, "date": {"a-b": 1}}`,
		`{a: 'ISODate("x")', b: "long(5)"}`:           `{"a": "ISODate(\"x\")", "b": "long(5)"}`,
	} {
		if got := JSON(text); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

func TestUnfinishedText(t *testing.T) {
	for _, text := range []string{`{a: "b`, `{a: long(5`, `{a: 'b\`, `{a`, `long(`, ``} {
		if d, err := Doc(text); err == nil && text != "" {
			t.Errorf("%s is %s", text, d)
		}
	}
}

func TestMustValue(t *testing.T) {
	if v := MustValue("missing"); !v.IsMissing() {
		t.Error(v)
	}
	if v := MustValue("'missing'"); v.Str() != "missing" {
		t.Error(v)
	}
}

// TestExtendedJSON: extended JSON is read as what it is.
func TestExtendedJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		d := value.NewDoc(rapid.StringMatching(`[a-z$_.]{1,5}`).Draw(t, "name"), value.String(text), "b", value.NewArray(value.Int64(5), value.Double(-1e300), value.Bool(true), value.Null()))
		if got, err := Doc(d.CanonicalJSON()); err != nil || got.CanonicalJSON() != d.CanonicalJSON() {
			t.Fatalf("%s is %s (%v)", d.CanonicalJSON(), got, err)
		}
		if got, err := Doc(d.JSON()); err != nil || got.JSON() != d.JSON() {
			t.Fatalf("%s is %s (%v)", d.JSON(), got, err)
		}
	})
}
