package token_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/changestream/token"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/value"
)

// addKeys gives a fuzz target the keys of all tokens that the tests have.
func addKeys(f *testing.F) {
	f.Helper()
	for _, tt := range publishedTokens {
		b, _ := hex.DecodeString(tt.token)
		f.Add(b)
	}
	for _, tt := range badTokens {
		if b, err := hex.DecodeString(harness.Relaxed(tt.token).Lookup("_data").Str()); err == nil {
			f.Add(b)
		}
	}
}

// FuzzDecode reads tokens of any bytes: a high-water mark is the same again when it is
// written and read, and what is read does not depend on the case of the digits nor on
// what follows the key.
func FuzzDecode(f *testing.F) {
	addKeys(f)
	f.Fuzz(func(t *testing.T, k []byte) {
		text := hex.EncodeToString(k)
		read, err := token.Decode(value.NewDoc("_data", value.String(text)))
		upper, again := token.Decode(value.NewDoc("_data", value.String(strings.ToUpper(text))))
		if (err == nil) != (again == nil) || err == nil && upper.TS != read.TS {
			t.Errorf("%s: %+v (%v), in upper case %+v (%v)", text, read, err, upper, again)
		}
		if err != nil {
			return
		}
		if whole, err := token.WholeValues(k); err != nil {
			t.Errorf("%s was read, but is not whole: %v", text, err)
		} else if tail, err := token.Decode(value.NewDoc("_data", value.String(hex.EncodeToString(whole)+"0400FF"))); err != nil || tail.TS != read.TS || tail.Fragment != read.Fragment {
			t.Errorf("%s with more behind it: %+v (%v)", text, tail, err)
		}
		if read.Event {
			return
		}
		if same, err := token.Decode(read.Encode()); err != nil || same.TS != read.TS || same.Event || same.Index != read.Index {
			t.Errorf("%+v became %+v (%v)", read, same, err)
		}
	})
}

// FuzzWholeValues cuts keys at their end: what it returns begins the key, and is whole.
func FuzzWholeValues(f *testing.F) {
	addKeys(f)
	f.Fuzz(func(t *testing.T, k []byte) {
		whole, err := token.WholeValues(k)
		if err != nil {
			return
		}
		if len(whole) > len(k) || string(k[:len(whole)]) != string(whole) || len(k) > len(whole) && k[len(whole)] != token.KeyEnd {
			t.Fatalf("%X: whole is %X", k, whole)
		}
		if again, err := token.WholeValues(whole); err != nil || string(again) != string(whole) {
			t.Errorf("%X, then %X (%v)", whole, again, err)
		}
	})
}

// FuzzEncode writes tokens about any document: they are read, and say the same.
func FuzzEncode(f *testing.F) {
	for _, id := range []string{`{_id: 1}`, `{_id: 0.1}`, `{_id: "a\u0000b"}`, `{_id: {a: [{$numberDecimal: "0.1"}, {$minKey: 1}]}}`, `{_id: -1e300, b: {$oid: "635019a078be67426d7cf4d2"}}`} {
		f.Add([]byte(harness.Relaxed(id)), uint64(1), uint16(0), uint8(0))
	}
	f.Fuzz(func(t *testing.T, id []byte, ts uint64, index uint16, fragment uint8) {
		if value.Validate(value.Doc(id)) != nil {
			return
		}
		want := token.Token{TS: ts, Event: true, Index: int(index), Fragment: int(fragment), FromInvalidate: ts%2 == 0, ID: value.Doc(id)}
		got, err := token.Decode(want.Encode())
		if err != nil || got.TS != ts || got.Index != want.Index || got.Fragment != want.Fragment || got.FromInvalidate != want.FromInvalidate || !got.Event {
			t.Errorf("%s: %+v, %v", value.Doc(id), got, err)
		}
	})
}
