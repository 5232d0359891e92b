package token_test

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/changestream/token"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// The identifier of an event is skipped, whatever values it has.
func TestTokenIdentifiers(t *testing.T) {
	for _, id := range []string{
		`0`, `1`, `-1`, `255`, `-65536`, `{"$numberLong": "9223372036854775807"}`, `{"$numberLong": "-9223372036854775808"}`,
		`0.5`, `-0.5`, `1.5`, `-1.5`, `4503599627370495.5`, `1e18`, `1e300`, `5e-324`, `{"$numberDouble": "NaN"}`, `{"$numberDouble": "-Infinity"}`, `{"$numberDecimal": "1.25"}`, `{"$numberDecimal": "3"}`,
		`""`, `"a\u0000b"`, `{}`, `{"a": {"b": [1, "x", {}]}, "": null}`, `[]`, `[[], [1.5]]`, `true`, `false`, `null`, `{"$undefined": true}`, `{"$minKey": 1}`, `{"$maxKey": 1}`,
		`{"$binary": {"base64": "", "subType": "00"}}`, `{"$binary": {"base64": "` + strings.Repeat("AAAA", 100) + `", "subType": "05"}}`,
		`{"$oid": "635019a078be67426d7cf4d2"}`, `{"$date": {"$numberLong": "-1"}}`, `{"$timestamp": {"t": 1, "i": 2}}`,
		`{"$regularExpression": {"pattern": "a", "options": "i"}}`, `{"$code": "f()"}`, `{"$symbol": "s"}`,
	} {
		for fragment := range 3 {
			want := token.Token{TS: 1, Index: fragment * 300, Event: true, Fragment: fragment, ID: value.MustJSON(`{"operationType": "insert", "documentKey": {"_id": ` + id + `}}`)}
			if got, err := token.Decode(want.Encode()); err != nil || got.Fragment != fragment || got.Index != want.Index || got.TS != 1 {
				t.Errorf("%s, fragment %d: %+v, %v", id, fragment, got, err)
			}
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

// codeOf returns the code of an error, 0 for nil.
func codeOf(err error) int32 {
	var e *mongoerr.Error
	if errors.As(err, &e) {
		return int32(e.Code)
	}
	return 0
}

// badTokens are tokens with the codes that mongod's resume_token.cpp and
// key_string.cpp refuse them with. A token is decoded completely before its fields are
// checked: a truncated token is an overflow, and an unknown type is 50811.
var badTokens = func() (list []badToken) {
	const at = "8263DF864800000002"
	list = []badToken{
		{40647, `{}`}, {40647, `{_data: 1}`}, {40648, `{_data: "82", _typeBits: 1}`}, {40648, `{_data: "82", _typeBits: {$binary: {base64: "", subType: "05"}}}`},
		{9, `{_data: "8"}`}, {9, `{_data: "xy"}`}, {40649, `{_data: ""}`}, {40649, `{_data: "04"}`}, {50796, `{_data: "3C6100"}`},
	}
	for _, b := range []struct {
		code int32
		data string
	}{
		{15, "82"}, {15, "8263DF86480000"}, {50811, "00"}, {50811, at + "07"},
		{50796, at + "04"}, {50854, at + "6E04"}, {50795, at + "2B0604"},
		{51055, at + "2B0404"}, {51056, at + "2B046E04"}, {51057, at + "2B042B0204"},
		{50793, at + "2B042904"}, {50855, at + "2B04296E04"},
		{50872, at + "2B04292904"}, {50870, at + "2B042929296E04"},
		{6189500, at + "2B0429296E04"},
		{207, at + "2B042C0100296E3C6100460004"}, {207, at + "2B042C0100296E5A0204AAAA460004"}, {207, at + "2B042C0100296E5A1000" + strings.Repeat("AA", 16) + "460004"},
		{6189504, at + "2B0429296E14460004"},
		{6189501, at + "2B042C0100296E1404"},
		{6189503, at + "2B042C0100296E142904"},
		{15, at + "2B042C0100296E14463C6100"}, {15, at + "2B042C0100296E1446"}, {15, at + "2B042C0100296E14463C61"}, {15, at + "2B042C0100296E14503C61"},
		{15, at + "2B042C0100296E145AFF0000"}, {15, at + "2B042C0100296E1464AA"}, {15, at + "2B042C0100296E142AFF80"},
		{15, at + "2B042C0100296E14" + strings.Repeat("50", 300)},
		{7182501, at + "2B042C0100296E1446006E04"}, {7182501, at + "2B042C0100296E14460027FD04"},
		{40646, at + "2B042C0100296E144600292904"},
	} {
		list = append(list, badToken{b.code, `{_data: "` + b.data + `"}`})
	}
	return list
}()

type badToken struct {
	code  int32
	token string
}

func TestBadTokens(t *testing.T) {
	for _, tt := range badTokens {
		if got, err := token.Decode(harness.Relaxed(tt.token)); codeOf(err) != tt.code {
			t.Errorf("%s: %+v, %v, want code %d", tt.token, got, err, tt.code)
		}
	}
}

// A key ends at its end byte, and every value is complete: decimals that are not doubles
// have eight more bytes; two bits of the double, one bit, or the size of the number shows
// whether these follow.
func TestWholeValues(t *testing.T) {
	const more = "0000000000000003"
	for _, v := range []string{
		"29", "2B02", "32FFFFFFFFFFFFFFFE", "2B0380000000000000", "27FC7FFFFFFFFFFFFF",
		"2AFEE6666666666664", "2AFEE6666666666666", "2AFEE6666666666665" + more, "2AFEE6666666666667" + more, "2800199999999999" + "98" + more, // below 1
		"2A59A0000000000000", "2A59A0000000000001" + more, "2A0000000000000001" + more, "28FFFFFFFFFFFFFFFE" + more, // below 2^-255
		"2B0380000000000002", "2B0380000000000003" + more, "3110000000000001" + "03" + more, "32FFFFFFFFFFFFFFFF" + more,
		"3307C0000000000000", "3307C0000000000001" + more, "33FFFFFFFFFFFFFFFF", "338000000000000001" + more, "1F0000000000000000", "1F7FFFFFFFFFFFFFFE" + more,
		"5A02050102", "8C61006900", "46" + "3C61003C00" + "00", "50293C0000", "3C6100FF6200", "A06600",
	} {
		k, _ := hex.DecodeString(v)
		for _, end := range []string{"", "\x04", "\x04\x00\x07"} {
			got, err := token.WholeValues(append([]byte(nil), string(k)+end...))
			if err != nil || string(got) != string(k) {
				t.Errorf("%s: whole is %X, %v", v, got, err)
			}
		}
		if len(k) > 1 {
			if got, err := token.WholeValues(k[:len(k)-1]); codeOf(err) != int32(mongoerr.Overflow) {
				t.Errorf("%s cut off: %X, %v", v, got, err)
			}
		}
	}
}
