package auth

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"testing"
)

// TestSubject takes its expectations from the examples of RFC 2253 and from
// what "openssl x509 -subject -nameopt RFC2253" prints.
func TestSubject(t *testing.T) {
	attr := func(oid asn1.ObjectIdentifier, v any) pkix.AttributeTypeAndValue {
		return pkix.AttributeTypeAndValue{Type: oid, Value: v}
	}
	cn, o, ou, c := asn1.ObjectIdentifier{2, 5, 4, 3}, asn1.ObjectIdentifier{2, 5, 4, 10}, asn1.ObjectIdentifier{2, 5, 4, 11}, asn1.ObjectIdentifier{2, 5, 4, 6}
	for _, tc := range []struct {
		rdns pkix.RDNSequence
		want string
	}{
		{pkix.RDNSequence{{attr(c, "GB")}, {attr(o, "Isode Limited")}, {attr(cn, "Steve Kille")}}, "CN=Steve Kille,O=Isode Limited,C=GB"},
		{pkix.RDNSequence{{attr(c, "US")}, {attr(o, "Widget Inc.")}, {attr(ou, "Sales"), attr(cn, "J. Smith")}}, "OU=Sales+CN=J. Smith,O=Widget Inc.,C=US"},
		{pkix.RDNSequence{{attr(c, "GB")}, {attr(o, "Sue, Grabbit and Runn")}, {attr(cn, "L. Eagle")}}, `CN=L. Eagle,O=Sue\, Grabbit and Runn,C=GB`},
		{pkix.RDNSequence{{attr(cn, "Before\rAfter")}}, `CN=Before\0DAfter`},
		{pkix.RDNSequence{{attr(cn, " #x ")}}, `CN=\ #x\ `},
		{pkix.RDNSequence{{attr(cn, "#x")}}, `CN=\#x`},
		{pkix.RDNSequence{{attr(asn1.ObjectIdentifier{0, 9, 2342, 19200300, 100, 1, 1}, "u")}}, "UID=u"},
		{pkix.RDNSequence{{attr(asn1.ObjectIdentifier{1, 3, 6, 1}, "x")}}, "1.3.6.1=x"},
		{nil, ""},
	} {
		raw, err := asn1.Marshal(tc.rdns)
		if err != nil {
			t.Fatal(err)
		}
		if got := Subject(&x509.Certificate{RawSubject: raw}); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
	if got := Subject(&x509.Certificate{RawSubject: []byte("garbage")}); got != "" {
		t.Errorf("garbage: %q", got)
	}
}
