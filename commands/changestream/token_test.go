package changestream_test

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/changestream"
	"github.com/duskdb/duskdb/commands/changestream/token"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/value"
)

// Tokens that servers of version 7 and later have made, as people have
// published them, with what they stand for.
var publishedTokens = []struct {
	name, token string
	ts          uint64
	invalidate  bool
	uuid        string // "": none
	op          string // the entry of the log; "": a high-water mark
}{
	{"insert", "82635019A0000000012B042C0100296E5A1004AB1154ACACD849A48C61756D70D3B21F463C6F7065726174696F6E54797065003C696E736572740046646F63756D656E744B65790046645F69640064635019A078BE67426D7CF4D2000004",
		0x635019A0<<32 | 1, false, "ab1154acacd849a48c61756d70d3b21f", `{"op": "i", "o": {"_id": {"$oid": "635019a078be67426d7cf4d2"}, "name": "x"}}`},
	{"insert far into a second", "8267015CC7000004682B042C0100296E5A1004F3ACB4AA4DE147A0B0F5F541701E4310463C6F7065726174696F6E54797065003C696E736572740046646F63756D656E744B65790046645F6964006467015CC64C1EBED2B638951D000004",
		0x67015CC7<<32 | 0x468, false, "f3acb4aa4de147a0b0f5f541701e4310", `{"op": "i", "o": {"_id": {"$oid": "67015cc64c1ebed2b638951d"}}}`},
	{"update", "82669683C2000000032B042C0100296E5A1004413F85D5B4CF4680AA4D17641E9DF22D463C6F7065726174696F6E54797065003C7570646174650046646F63756D656E744B65790046645F69640064669683C2B0750B2C84893F3E000004",
		0x669683C2<<32 | 3, false, "413f85d5b4cf4680aa4d17641e9df22d", `{"op": "u", "o": {"$v": 2, "diff": {}}, "o2": {"_id": {"$oid": "669683c2b0750b2c84893f3e"}}}`},
	{"update by an _id that is a document", "82680684FF000000012B042C0100296E5A1004D3EE9A783E1646B481F4358CF62D4A8D463C6F7065726174696F6E54797065003C7570646174650046646F63756D656E744B657900463C5F6964003C757365725F31323300000004",
		0x680684FF<<32 | 1, false, "d3ee9a783e1646b481f4358cf62d4a8d", `{"op": "u", "o": {"$v": 2, "diff": {}}, "o2": {"_id": "user_123"}}`},
	{"replace", "82669683C2000000042B042C0100296E5A1004413F85D5B4CF4680AA4D17641E9DF22D463C6F7065726174696F6E54797065003C7265706C6163650046646F63756D656E744B65790046645F69640064669683C2B0750B2C84893F3E000004",
		0x669683C2<<32 | 4, false, "413f85d5b4cf4680aa4d17641e9df22d", `{"op": "u", "o": {"tags": []}, "o2": {"_id": {"$oid": "669683c2b0750b2c84893f3e"}}}`},
	{"delete", "82669693C5000000032B042C0100296E5A10043D9AA2FA889C45049D2CDE4175242B7E463C6F7065726174696F6E54797065003C64656C6574650046646F63756D656E744B65790046645F69640064669693C5002EF91EA9C7A562000004",
		0x669693C5<<32 | 3, false, "3d9aa2fa889c45049d2cde4175242b7e", `{"op": "d", "o": {"_id": {"$oid": "669693c5002ef91ea9c7a562"}}}`},
	{"drop", "82669683C2000000052B042C0100296E5A1004413F85D5B4CF4680AA4D17641E9DF22D463C6F7065726174696F6E54797065003C64726F70000004",
		0x669683C2<<32 | 5, false, "413f85d5b4cf4680aa4d17641e9df22d", `{"op": "c", "o": {"drop": "data"}, "o2": {"numRecords": 1}}`},
	{"invalidate", "82669683C2000000052B042C0100296F5A1004413F85D5B4CF4680AA4D17641E9DF22D463C6F7065726174696F6E54797065003C64726F70000004",
		0x669683C2<<32 | 5, true, "413f85d5b4cf4680aa4d17641e9df22d", `{"op": "c", "o": {"drop": "data"}, "o2": {"numRecords": 1}}`},
	{"dropDatabase", "826692B807000000022B042C0100296E14463C6F7065726174696F6E54797065003C64726F704461746162617365000004",
		0x6692B807<<32 | 2, false, "", `{"op": "c", "o": {"dropDatabase": 1}}`},
	{"rename", "826AAA2A72000000012B042C0100296E5A1004ADB3EAFEEBCF423683BE8CF7CBC7F1D2463C6F7065726174696F6E54797065003C72656E616D6500466F7065726174696F6E4465736372697074696F6E004646746F00463C6462003C64646437335F7265706C696361003C636F6C6C003C6F72646572735F617263686976650000000004",
		0x6AAA2A72<<32 | 1, false, "adb3eafeebcf423683be8cf7cbc7f1d2", `{"op": "c", "o": {"renameCollection": "ddd73_replica.orders", "to": "ddd73_replica.orders_archive", "stayTemp": false}}`},
	{"create", "8268381564000000012B042C0100296E5A10047A321D5777D94A898403A1CE31511300463C6F7065726174696F6E54797065003C63726561746500466F7065726174696F6E4465736372697074696F6E0046466368616E676553747265616D507265416E64506F7374496D6167657300466E656E61626C6564006F00466964496E64657800461E76002B04466B657900461E5F6964002B02003C6E616D65003C5F69645F0000000004",
		0x68381564<<32 | 1, false, "7a321d5777d94a898403a1ce31511300", `{"op": "c", "o": {"create": "x", "changeStreamPreAndPostImages": {"enabled": true}, "idIndex": {"v": 2, "key": {"_id": 1}, "name": "_id_"}}}`},
	{"high-water mark", "826A8C8E64000000012B0429296E1404", 0x6A8C8E64<<32 | 1, false, "", ""},
}

func TestPublishedTokens(t *testing.T) {
	for _, tt := range publishedTokens {
		t.Run(tt.name, func(t *testing.T) {
			want := token.Token{TS: tt.ts, Event: tt.op != "", FromInvalidate: tt.invalidate}
			if b, _ := hex.DecodeString(tt.uuid); len(b) == 16 {
				want.UUID = (*[16]byte)(b)
			}
			if want.Event {
				o := &token.LogOp{Op: value.MustJSON(tt.op), Invalidate: tt.invalidate}
				want.Identify(o, token.EventKind(o), changestream.DocumentKey(o.Op), changestream.Describe(o))
			}
			made := want.Encode()
			if got := made.Lookup("_data").Str(); got != tt.token {
				t.Errorf("made  %s\ngiven %s", got, tt.token)
			}
			got, err := token.Decode(made)
			if err != nil || got.Fragment != 0 || got.TS != want.TS || got.Event != want.Event || got.FromInvalidate != want.FromInvalidate || got.Index != 0 {
				t.Errorf("read %+v (%v), want %+v", got, err, want)
			}
			if !want.Event {
				return
			}
			part := fragmentOf(made, 3)
			if got, err := token.Decode(part); err != nil || got.Fragment != 4 || changestream.WholeText(&got, part) != tt.token {
				t.Errorf("fragment: read %+v (%v)", got, err)
			}
		})
	}
}

// Type bits; those of createIndexes are of a made that somebody published, with
// indexes that the shell made, whose numbers are doubles. The others follow the
// same rules.
func TestTokenTypes(t *testing.T) {
	for id, want := range map[string]string{
		`{"operationType": "createIndexes", "operationDescription": {"indexes": [{"v": 2, "key": {"a": 1.0}, "name": "a_1"}, {"v": 2, "key": {"b": 1.0}, "name": "b_1"}]}}`: "gwBCAA==",
		`{"operationType": "insert", "documentKey": {"_id": 1}}`:                    "",
		`{"operationType": "insert", "documentKey": {"_id": "a"}}`:                  "",
		`{"operationType": "insert", "documentKey": {"_id": 1.0}}`:                  "goAA",
		`{"operationType": "insert", "documentKey": {"_id": {"$numberLong": "1"}}}`: "ggAB",
	} {
		token := (&token.Token{Event: true, ID: value.MustJSON(id)}).Encode()
		_, types := token.Lookup("_typeBits").Binary()
		if got := base64.StdEncoding.EncodeToString(types); got != want || token.Has("_typeBits") != (want != "") {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
}

// What identifies an event is passed over whatever it holds.
func TestTokenIdentifiers(t *testing.T) {
	for _, id := range []string{
		`0`, `1`, `-1`, `255`, `-65536`, `{"$numberLong": "9223372036854775807"}`, `{"$numberLong": "-9223372036854775808"}`,
		`0.5`, `-0.5`, `1.5`, `-1.5`, `4503599627370495.5`, `1e18`, `1e300`, `{"$numberDouble": "NaN"}`, `{"$numberDouble": "-Infinity"}`, `{"$numberDecimal": "1.25"}`, `{"$numberDecimal": "3"}`,
		`""`, `"a\u0000b"`, `{}`, `{"a": {"b": [1, "x", {}]}, "": null}`, `[]`, `[[], [1.5]]`, `true`, `false`, `null`, `{"$undefined": true}`, `{"$minKey": 1}`, `{"$maxKey": 1}`,
		`{"$binary": {"base64": "", "subType": "00"}}`, `{"$binary": {"base64": "` + strings.Repeat("AAAA", 100) + `", "subType": "05"}}`,
		`{"$oid": "635019a078be67426d7cf4d2"}`, `{"$date": {"$numberLong": "-1"}}`, `{"$timestamp": {"t": 1, "i": 2}}`,
		`{"$regularExpression": {"pattern": "a", "options": "i"}}`, `{"$code": "f()"}`, `{"$symbol": "s"}`,
	} {
		for fragment := range 3 {
			want := token.Token{TS: 1, Event: true, Fragment: fragment, ID: value.MustJSON(`{"operationType": "insert", "documentKey": {"_id": ` + id + `}}`)}
			if got, err := token.Decode(want.Encode()); err != nil || got.Fragment != fragment {
				t.Errorf("%s, fragment %d: %+v, %v", id, fragment, got, err)
			}
		}
	}
}

// A key is the same whatever type its numbers have, and streams go on behind
// all of them.
func TestStreamGoesOnBehindNumbers(t *testing.T) {
	h := harness.New(t)
	s := h.Watch("c", `{}`, "")
	h.OK(`{insert: "c", documents: [{_id: 1.0}, {_id: {$numberLong: "2"}}, {_id: {$numberDecimal: "3"}}, {_id: -0.0}, {_id: {a: [{$numberLong: "5"}]}}, {_id: 6}]}`)
	events := s.Events()
	for i, e := range events {
		token := e.Lookup("_id").Doc()
		if got := len(h.Watch("c", `{"resumeAfter": `+token.JSON()+`}`, "").Events()); got != len(events)-i-1 {
			t.Errorf("%d events behind %s", got, token)
		}
	}
}

// Tokens of servers before version 7 (format 1) and 4.2 (format 0).
func TestTokensOfOlderServers(t *testing.T) {
	for _, tt := range []struct {
		token      string
		ts         uint64
		event, inv bool
	}{
		{"8263DF8648000000022B022C0100296E5A10049BF97FEDD65D4F9789DA7B2ECCDE1C8846645F6964006463DF8648C817953F69BEF1910004", 0x63DF8648<<32 | 2, true, false},
		{"8265B41E97000000012B022C0100296F5A1004002FB9BB2E124BFCAF935B8C8F64417104", 0x65B41E97<<32 | 1, true, true},
		{"825BB7A25E0000000129295A1004A34408FB07864F8F960BF14453DFB98546645F696400645BB7A25EE10ED33145BCF7A70004", 0x5BB7A25E<<32 | 1, true, false},
		{"8263DF8648000000022B0229296E04", 0x63DF8648<<32 | 2, false, false},
	} {
		got, err := token.Decode(value.NewDoc("_data", value.String(tt.token)))
		if err != nil || got.TS != tt.ts || got.Event != tt.event || got.FromInvalidate != tt.inv {
			t.Errorf("%s: %+v, %v", tt.token, got, err)
		}
	}
}

// A token is decoded as a whole before its fields are looked at, as mongod does:
// what breaks off is an overflow, what has no known type is 50811.
func TestBadTokens(t *testing.T) {
	const at = "8263DF864800000002"
	h := harness.New(t)
	h.OK(`{create: "c"}`)
	for _, tt := range []struct {
		code  int32
		token string
	}{
		{40647, `{}`}, {40647, `{"_data": 1}`}, {40648, `{"_data": "82", "_typeBits": 1}`},
		{9, `{"_data": "8"}`}, {9, `{"_data": "xy"}`}, {40649, `{"_data": ""}`}, {50796, `{"_data": "3C6100"}`},
		{15, `{"_data": "82"}`}, {15, `{"_data": "8263DF86480000"}`}, {50811, `{"_data": "00"}`}, {50811, `{"_data": "` + at + `07"}`}, {40649, `{"_data": "04"}`},
		{50796, `{"_data": "` + at + `04"}`}, {50854, `{"_data": "` + at + `6E04"}`}, {50795, `{"_data": "` + at + `2B0604"}`},
		{51055, `{"_data": "` + at + `2B0404"}`}, {51056, `{"_data": "` + at + `2B046E04"}`}, {51057, `{"_data": "` + at + `2B042B0204"}`},
		{50793, `{"_data": "` + at + `2B042904"}`}, {50855, `{"_data": "` + at + `2B04296E04"}`},
		{50872, `{"_data": "` + at + `2B04292904"}`}, {50870, `{"_data": "` + at + `2B042929296E04"}`},
		{6189500, `{"_data": "` + at + `2B0429296E04"}`},
		{6189504, `{"_data": "` + at + `2B0429296E14460004"}`},
		{6189501, `{"_data": "` + at + `2B042C0100296E1404"}`},
		{6189503, `{"_data": "` + at + `2B042C0100296E142904"}`},
		{15, `{"_data": "` + at + `2B042C0100296E14463C6100"}`},
		{7182501, `{"_data": "` + at + `2B042C0100296E1446006E04"}`}, {7182501, `{"_data": "` + at + `2B042C0100296E14460027FD04"}`},
		{40646, `{"_data": "` + at + `2B042C0100296E144600292904"}`},
	} {
		for _, option := range []string{"resumeAfter", "startAfter"} {
			h.Fails(tt.code, `{"aggregate": "c", "pipeline": [{"$changeStream": {"`+option+`": `+tt.token+`}}], "cursor": {}}`)
		}
	}
}

func FuzzDecodeToken(f *testing.F) {
	for _, tt := range publishedTokens {
		b, _ := hex.DecodeString(tt.token)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, k []byte) {
		data := strings.ToUpper(hex.EncodeToString(k))
		read, err := token.Decode(value.NewDoc("_data", value.String(data)))
		if err != nil || read.Event {
			return
		}
		if again, err := token.Decode(read.Encode()); err != nil || again.TS != read.TS || again.Event {
			t.Errorf("%+v became %+v (%v)", read, again, err)
		}
	})
}
