package session_test

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/session"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// shown is an error as a reply has it, "" for none.
func shown(err error) string {
	var e *mongoerr.Error
	if errors.As(err, &e) {
		return e.Code.String() + ": " + e.Message
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// uuidA is a UUID in base64, with its bytes.
const uuidA = "AAECAwQFBgcICQoLDA0ODw=="

var bytesA = [16]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}

// The parts of an lsid, with the errors of mongod's IDL parser, uuid.cpp, sha256_block.h
// and logical_session_id_helpers.cpp.
func TestReadPartsOfLsid(t *testing.T) {
	uuid := func(v value.Value) (string, error) {
		id, err := session.ReadUUID(v, "lsid", "id")
		return string(id[:]), err
	}
	digest := func(v value.Value) (string, error) {
		d, err := session.ReadDigest(v, "uid")
		return string(d[:]), err
	}
	sum := sha256.Sum256([]byte("x"))
	none16, none32 := string(make([]byte, 16)), string(make([]byte, 32))
	for _, tt := range []struct {
		read      func(value.Value) (string, error)
		v         string
		want, err string
	}{
		{uuid, `{$binary: {base64: "` + uuidA + `", subType: "04"}}`, string(bytesA[:]), ""},
		{uuid, `null`, none16, "IDLFailedToParse: BSON field 'lsid.id' is missing but a required field"},
		{uuid, `{$undefined: true}`, none16, "IDLFailedToParse: BSON field 'lsid.id' is missing but a required field"},
		{uuid, `"x"`, none16, "TypeMismatch: BSON field 'lsid.id' is the wrong type 'string', expected type 'binData'"},
		{uuid, `{$binary: {base64: "` + uuidA + `", subType: "00"}}`, none16, "TypeMismatch: BSON field 'lsid.id' is the wrong binData type 'general', expected type 'UUID'"},
		{uuid, `{$binary: {base64: "AAEC", subType: "04"}}`, none16, "InvalidUUID: uuid must be a 16-byte binary field with UUID (4) subtype"},
		{digest, `{$binary: {base64: "` + base64.StdEncoding.EncodeToString(sum[:]) + `", subType: "00"}}`, string(sum[:]), ""},
		{digest, `1`, none32, "TypeMismatch: BSON field 'uid' is the wrong type 'int', expected type 'binData'"},
		{digest, `{$binary: {base64: "AAEC", subType: "05"}}`, none32, "TypeMismatch: BSON field 'uid' is the wrong binData type 'MD5', expected type 'general'"},
		{digest, `{$binary: {base64: "AAEC", subType: "00"}}`, none32, "UnsupportedFormat: Unsupported SHA256Block hash length: 3"},
	} {
		if got, err := tt.read(harness.Relaxed(`{v: ` + tt.v + `}`).Lookup("v")); got != tt.want || shown(err) != tt.err {
			t.Errorf("%s: %x, %q; want %x, %q", tt.v, got, shown(err), tt.want, tt.err)
		}
	}
}

func TestReadChild(t *testing.T) {
	child := `txnUUID: {$binary: {base64: "` + uuidA + `", subType: "04"}}`
	for _, tt := range []struct{ lsid, want, err string }{
		{`{}`, "", ""},
		{`{` + child + `}`, string(bytesA[:]), ""},
		{`{txnNumber: {$numberLong: "258"}, ` + child + `}`, "\x00\x00\x00\x00\x00\x00\x01\x02" + string(bytesA[:]), ""},
		{`{txnNumber: {$numberLong: "1"}}`, "", "InvalidOptions: Cannot specify txnNumber in lsid without specifying txnUUID"},
		{`{txnNumber: 1, ` + child + `}`, "", "TypeMismatch: BSON field 'lsid.txnNumber' is the wrong type 'int', expected type 'long'"},
	} {
		d := harness.Relaxed(tt.lsid)
		if got, err := session.ReadChild(d.Lookup("txnNumber"), d.Lookup("txnUUID"), "lsid"); got != tt.want || shown(err) != tt.err {
			t.Errorf("%s: %x, %q; want %x, %q", tt.lsid, got, shown(err), tt.want, tt.err)
		}
	}
	if _, err := session.ReadChild(value.Value{}, value.Int32(1), "lsid"); shown(err) != "TypeMismatch: BSON field 'lsid.txnUUID' is the wrong type 'int', expected type 'binData'" {
		t.Error(shown(err))
	}
}

// Outside, a session's user is the digest of "name@db". That of nobody stands in every
// lsid that mongod logs without access control.
func TestDigestOfUser(t *testing.T) {
	known := sha256.Sum256([]byte("ann@admin"))
	nobody, _ := base64.StdEncoding.DecodeString("47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
	for user, want := range map[string]struct{ name, digest string }{
		"admin.ann":                   {"ann@admin", string(known[:])},
		"":                            {"", string(nobody)},
		"\x00" + string(known[:]):     {"", string(known[:])},
		"\x00short of a whole one":    {"", string(nobody)},
		"d." + strings.Repeat("x", 3): {"xxx@d", func() string { s := sha256.Sum256([]byte("xxx@d")); return string(s[:]) }()},
	} {
		k := session.Key{User: user}
		if got := k.Digest(); string(got[:]) != want.digest || k.UserName() != want.name {
			t.Errorf("%q: %s, %x, want %s, %x", user, k.UserName(), got, want.name, want.digest)
		}
	}
}

// The _id of a record has what tells the session apart, as config.transactions of mongod.
func TestRecordDoc(t *testing.T) {
	uid := `uid: {$binary: {base64: "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", subType: "00"}}`
	id := `id: {$binary: {base64: "` + uuidA + `", subType: "04"}}`
	child := `txnUUID: {$binary: {base64: "` + uuidA + `", subType: "04"}}`
	for of, want := range map[string]string{
		"":                `{` + id + `, ` + uid + `}`,
		string(bytesA[:]): `{` + id + `, ` + uid + `, ` + child + `}`,
		"\x00\x00\x00\x00\x00\x00\x01\x02" + string(bytesA[:]): `{` + id + `, ` + uid + `, txnNumber: {$numberLong: "258"}, ` + child + `}`,
	} {
		if got := (session.Key{ID: bytesA, Child: of}).Record().Doc(); got.CanonicalJSON() != harness.Relaxed(want).CanonicalJSON() {
			t.Errorf("%x: %s, want %s", of, got.CanonicalJSON(), want)
		}
	}
	if got := session.FormatUUID(bytesA); got != "00010203-0405-0607-0809-0a0b0c0d0e0f" {
		t.Error(got)
	}
}
