package token_test

import (
	"encoding/base64"
	"encoding/hex"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/commands/changestream/token"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/value"
)

// publishedTokens are published tokens of servers of version 7 and later, with their
// contents.
var publishedTokens = []struct {
	name, token string
	ts          uint64
	invalidate  bool
	uuid        string // "": none
	op          string // the entry of the log; "": a high-water mark
	key         string // key of the document
	description string // description of a command
}{
	{"insert", "82635019A0000000012B042C0100296E5A1004AB1154ACACD849A48C61756D70D3B21F463C6F7065726174696F6E54797065003C696E736572740046646F63756D656E744B65790046645F69640064635019A078BE67426D7CF4D2000004",
		0x635019A0<<32 | 1, false, "ab1154acacd849a48c61756d70d3b21f", `{op: "i", o: {_id: {$oid: "635019a078be67426d7cf4d2"}, name: "x"}}`, `{_id: {$oid: "635019a078be67426d7cf4d2"}}`, ""},
	{"insert far into a second", "8267015CC7000004682B042C0100296E5A1004F3ACB4AA4DE147A0B0F5F541701E4310463C6F7065726174696F6E54797065003C696E736572740046646F63756D656E744B65790046645F6964006467015CC64C1EBED2B638951D000004",
		0x67015CC7<<32 | 0x468, false, "f3acb4aa4de147a0b0f5f541701e4310", `{op: "i", o: {_id: {$oid: "67015cc64c1ebed2b638951d"}}}`, `{_id: {$oid: "67015cc64c1ebed2b638951d"}}`, ""},
	{"update", "82669683C2000000032B042C0100296E5A1004413F85D5B4CF4680AA4D17641E9DF22D463C6F7065726174696F6E54797065003C7570646174650046646F63756D656E744B65790046645F69640064669683C2B0750B2C84893F3E000004",
		0x669683C2<<32 | 3, false, "413f85d5b4cf4680aa4d17641e9df22d", `{op: "u", o: {$v: 2, diff: {}}, o2: {_id: {$oid: "669683c2b0750b2c84893f3e"}}}`, `{_id: {$oid: "669683c2b0750b2c84893f3e"}}`, ""},
	{"update by an _id that is a text", "82680684FF000000012B042C0100296E5A1004D3EE9A783E1646B481F4358CF62D4A8D463C6F7065726174696F6E54797065003C7570646174650046646F63756D656E744B657900463C5F6964003C757365725F31323300000004",
		0x680684FF<<32 | 1, false, "d3ee9a783e1646b481f4358cf62d4a8d", `{op: "u", o: {$v: 2, diff: {}}, o2: {_id: "user_123"}}`, `{_id: "user_123"}`, ""},
	{"replace", "82669683C2000000042B042C0100296E5A1004413F85D5B4CF4680AA4D17641E9DF22D463C6F7065726174696F6E54797065003C7265706C6163650046646F63756D656E744B65790046645F69640064669683C2B0750B2C84893F3E000004",
		0x669683C2<<32 | 4, false, "413f85d5b4cf4680aa4d17641e9df22d", `{op: "u", o: {tags: []}, o2: {_id: {$oid: "669683c2b0750b2c84893f3e"}}}`, `{_id: {$oid: "669683c2b0750b2c84893f3e"}}`, ""},
	{"delete", "82669693C5000000032B042C0100296E5A10043D9AA2FA889C45049D2CDE4175242B7E463C6F7065726174696F6E54797065003C64656C6574650046646F63756D656E744B65790046645F69640064669693C5002EF91EA9C7A562000004",
		0x669693C5<<32 | 3, false, "3d9aa2fa889c45049d2cde4175242b7e", `{op: "d", o: {_id: {$oid: "669693c5002ef91ea9c7a562"}}}`, `{_id: {$oid: "669693c5002ef91ea9c7a562"}}`, ""},
	{"drop", "82669683C2000000052B042C0100296E5A1004413F85D5B4CF4680AA4D17641E9DF22D463C6F7065726174696F6E54797065003C64726F70000004",
		0x669683C2<<32 | 5, false, "413f85d5b4cf4680aa4d17641e9df22d", `{op: "c", o: {drop: "data"}, o2: {numRecords: 1}}`, "", ""},
	{"invalidate", "82669683C2000000052B042C0100296F5A1004413F85D5B4CF4680AA4D17641E9DF22D463C6F7065726174696F6E54797065003C64726F70000004",
		0x669683C2<<32 | 5, true, "413f85d5b4cf4680aa4d17641e9df22d", `{op: "c", o: {drop: "data"}, o2: {numRecords: 1}}`, "", ""},
	{"dropDatabase", "826692B807000000022B042C0100296E14463C6F7065726174696F6E54797065003C64726F704461746162617365000004",
		0x6692B807<<32 | 2, false, "", `{op: "c", o: {dropDatabase: 1}}`, "", ""},
	{"rename", "826AAA2A72000000012B042C0100296E5A1004ADB3EAFEEBCF423683BE8CF7CBC7F1D2463C6F7065726174696F6E54797065003C72656E616D6500466F7065726174696F6E4465736372697074696F6E004646746F00463C6462003C64646437335F7265706C696361003C636F6C6C003C6F72646572735F617263686976650000000004",
		0x6AAA2A72<<32 | 1, false, "adb3eafeebcf423683be8cf7cbc7f1d2", `{op: "c", o: {renameCollection: "ddd73_replica.orders"}}`, "", `{to: {db: "ddd73_replica", coll: "orders_archive"}}`},
	{"create", "8268381564000000012B042C0100296E5A10047A321D5777D94A898403A1CE31511300463C6F7065726174696F6E54797065003C63726561746500466F7065726174696F6E4465736372697074696F6E0046466368616E676553747265616D507265416E64506F7374496D6167657300466E656E61626C6564006F00466964496E64657800461E76002B04466B657900461E5F6964002B02003C6E616D65003C5F69645F0000000004",
		0x68381564<<32 | 1, false, "7a321d5777d94a898403a1ce31511300", `{op: "c", o: {create: "x"}}`, "", `{changeStreamPreAndPostImages: {enabled: true}, idIndex: {v: 2, key: {_id: 1}, name: "_id_"}}`},
	{"high-water mark", "826A8C8E64000000012B0429296E1404", 0x6A8C8E64<<32 | 1, false, "", "", "", ""},
}

// optional parses a document; "" stands for none.
func optional(s string) value.Doc {
	if s == "" {
		return nil
	}
	return harness.Relaxed(s)
}

func TestPublishedTokens(t *testing.T) {
	for _, tt := range publishedTokens {
		t.Run(tt.name, func(t *testing.T) {
			want := token.Token{TS: tt.ts, Event: tt.op != "", FromInvalidate: tt.invalidate}
			if b, _ := hex.DecodeString(tt.uuid); len(b) == 16 {
				want.UUID = (*[16]byte)(b)
			}
			if want.Event {
				o := &token.LogOp{Op: harness.Relaxed(tt.op), Invalidate: tt.invalidate}
				want.Identify(o, token.EventKind(o), optional(tt.key), optional(tt.description))
			}
			made := want.Encode()
			if got := made.Lookup("_data").Str(); got != tt.token {
				t.Errorf("made  %s\ngiven %s", got, tt.token)
			}
			got, err := token.Decode(made)
			if err != nil || got.Fragment != 0 || got.TS != want.TS || got.Event != want.Event || got.FromInvalidate != want.FromInvalidate || got.Index != 0 {
				t.Errorf("read %+v (%v), want %+v", got, err, want)
			}
		})
	}
}

// The events of operations and commands are named as the manual's pages on change
// events name them.
func TestEventKind(t *testing.T) {
	for op, want := range map[string]string{
		`{op: "i", o: {_id: 1}}`: "insert", `{op: "d", o: {_id: 1}}`: "delete",
		`{op: "u", o: {$v: 2, diff: {}}, o2: {_id: 1}}`: "update", `{op: "u", o: {_id: 1, a: 1}, o2: {_id: 1}}`: "replace",
		`{op: "c", o: {create: "c"}}`: "create", `{op: "c", o: {drop: "c"}}`: "drop", `{op: "c", o: {dropDatabase: 1}}`: "dropDatabase",
		`{op: "c", o: {renameCollection: "d.a", to: "d.b"}}`: "rename", `{op: "c", o: {collMod: "c"}}`: "modify",
		`{op: "c", o: {createIndexes: "c"}}`: "createIndexes", `{op: "c", o: {commitIndexBuild: "c"}}`: "createIndexes", `{op: "c", o: {dropIndexes: "c"}}`: "dropIndexes",
	} {
		o := &token.LogOp{Op: harness.Relaxed(op)}
		if got := token.EventKind(o); got != want {
			t.Errorf("%s: %s, want %s", op, got, want)
		}
		o.Invalidate = true
		if got := token.EventKind(o); got != "invalidate" {
			t.Errorf("what follows %s: %s", op, got)
		}
	}
}

// Type bits. Those of createIndexes come from a published token about indexes that the
// shell created, whose numbers are doubles. The others follow the same rules.
func TestTokenTypes(t *testing.T) {
	for id, want := range map[string]string{
		`{operationType: "createIndexes", operationDescription: {indexes: [{v: 2, key: {a: 1.0}, name: "a_1"}, {v: 2, key: {b: 1.0}, name: "b_1"}]}}`: "gwBCAA==",
		`{operationType: "insert", documentKey: {_id: 1}}`:                  "",
		`{operationType: "insert", documentKey: {_id: "a"}}`:                "",
		`{operationType: "insert", documentKey: {_id: 1.0}}`:                "goAA",
		`{operationType: "insert", documentKey: {_id: {$numberLong: "1"}}}`: "ggAB",
		`{a: {$symbol: "s"}}`:          "QA==", // one byte below 0x80 has no length before it
		`{a: {$numberDouble: "-0.0"}}`: "gsAA",
	} {
		made := (&token.Token{Event: true, ID: harness.Relaxed(id)}).Encode()
		_, types := made.Lookup("_typeBits").Binary()
		if got := base64.StdEncoding.EncodeToString(types); got != want || made.Has("_typeBits") != (want != "") {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
	long := strings.TrimSuffix(strings.Repeat(`{$numberLong: "1"},`, 509), ",")
	_, types := (&token.Token{Event: true, ID: harness.Relaxed(`{a: [` + long + `]}`)}).Encode().Lookup("_typeBits").Binary()
	if want := "80" + "80000000" + "80" + strings.Repeat("aa", 127); hex.EncodeToString(types) != want { // from 0x80 bytes their number has four
		t.Errorf("long type bits: %x, want %s", types, want)
	}
}

// The bytes of values in a KeyString of version 1: a type byte, then bytes that compare
// as the value does.
func TestKeyOfValues(t *testing.T) {
	for v, want := range map[string]string{
		`0`: "29", `1`: "2B02", `-1`: "27FD", `255`: "2C01FE", `-65536`: "25FDFFFF",
		`{$numberLong: "9223372036854775807"}`: "32FFFFFFFFFFFFFFFE", `{$numberLong: "-9223372036854775808"}`: "1FF83FFFFFFFFFFFFF",
		`{$numberDouble: "-0.0"}`: "29", `2.0`: "2B04", `{$numberDecimal: "3"}`: "2B06", `{$numberDecimal: "1.25"}`: "2B0340000000000000",
		`1.5`: "2B0380000000000000", `-1.5`: "27FC7FFFFFFFFFFFFF", `4503599627370495.5`: "311FFFFFFFFFFFFF80",
		`0.5`: "2AFF80000000000000", `-0.5`: "28007FFFFFFFFFFFFF", // two bits are free
		`5e-324`: "2A59A0000000000000", `-5e-324`: "28A65FFFFFFFFFFFFF", `8.636168555094445e-78`: "2ABFE0000000000000", // one is
		`1.7272337110188890e-77`: "2AC000000000000000",
		`9223372036854775808.0`:  "3307C0000000000000", `-9223372036854775808.0`: "1FF83FFFFFFFFFFFFF",
		`{$numberDouble: "Infinity"}`: "33FFFFFFFFFFFFFFFF", `{$numberDouble: "-Infinity"}`: "1F0000000000000000", `{$numberDouble: "NaN"}`: "1E",
		`"a\u0000b"`: "3C6100FF6200", `{$symbol: "s"}`: "3C7300", `{$code: "f"}`: "A06600",
		`{}`: "4600", `{a: {b: true}}`: "464661" + "00466E62006F" + "0000", `[]`: "5000", `[1, "x"]`: "502B023C780000",
		`true`: "6F", `false`: "6E", `null`: "14", `{$undefined: true}`: "0F", `{$minKey: 1}`: "0A", `{$maxKey: 1}`: "F0",
		`{$binary: {base64: "AQI=", subType: "05"}}`: "5A02050102", `{$binary: {base64: "` + strings.Repeat("AAAA", 85) + `", subType: "00"}}`: "5AFF000000FF00" + strings.Repeat("00", 255),
		`{$oid: "635019a078be67426d7cf4d2"}`: "64635019A078BE67426D7CF4D2", `{$date: {$numberLong: "-1"}}`: "787FFFFFFFFFFFFFFF", `{$timestamp: {t: 1, i: 2}}`: "820000000100000002",
		`{$regularExpression: {pattern: "a", options: "i"}}`: "8C61006900",
	} {
		const before, behind = "82" + "0000000000000000" + "2B042C0100296E14" + "46", "0004"
		id := harness.Relaxed(`{"": ` + v + `}`)
		data := (&token.Token{Event: true, ID: id}).Encode().Lookup("_data").Str()
		class := want[:2]
		switch id.Lookup("").Kind() {
		case value.KindInt32, value.KindInt64, value.KindDouble, value.KindDecimal:
			class = "1E"
		case value.KindBool:
			class = "6E"
		}
		if wanted := before + class + "00" + want + behind; data != wanted {
			t.Errorf("%s\nmade %s\nwant %s", v, data, wanted)
		}
	}
}

// TestKeysAreInOrder: keys of numbers compare as the numbers do.
func TestKeysAreInOrder(t *testing.T) {
	number := rapid.OneOf(rapid.Float64(), rapid.Float64Range(-2, 2), rapid.SampledFrom([]float64{0, 5e-324, 0x1p-255, 0x1p-256, 1, 1.5, -1.5, 0x1p53, 0x1p63, -0x1p63, math.Inf(1), math.Inf(-1)}),
		rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.Int64Range(-1<<53, 1<<53).Draw(t, "n")) }))
	key := func(f float64) string {
		return (&token.Token{Event: true, ID: value.NewDoc("_id", value.Double(f))}).Encode().Lookup("_data").Str()
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := number.Draw(t, "a"), number.Draw(t, "b")
		if x, y := key(a), key(b); a < b != (x < y) || a == b != (x == y) {
			t.Fatalf("%g has %s, %g has %s", a, x, b, y)
		}
	})
}
