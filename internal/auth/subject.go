package auth

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"fmt"
	"strings"
)

// attributeNames are the short names of the attributes of a subject, as
// OpenSSL and therefore mongod writes them.
var attributeNames = map[string]string{
	"2.5.4.3": "CN", "2.5.4.4": "SN", "2.5.4.5": "serialNumber", "2.5.4.6": "C", "2.5.4.7": "L", "2.5.4.8": "ST",
	"2.5.4.9": "street", "2.5.4.10": "O", "2.5.4.11": "OU", "2.5.4.12": "title", "2.5.4.17": "postalCode",
	"2.5.4.42": "GN", "0.9.2342.19200300.100.1.1": "UID", "0.9.2342.19200300.100.1.25": "DC",
	"1.2.840.113549.1.9.1": "emailAddress",
}

// Subject returns the user name of a certificate: the subject in the form of
// RFC 2253, "CN=client,OU=dev,O=Dusk".
func Subject(cert *x509.Certificate) string {
	var rdns pkix.RDNSequence
	if rest, err := asn1.Unmarshal(cert.RawSubject, &rdns); err != nil || len(rest) > 0 {
		return ""
	}
	parts := make([]string, 0, len(rdns))
	for i := len(rdns) - 1; i >= 0; i-- {
		var values []string
		for _, a := range rdns[i] {
			values = append(values, attribute(a))
		}
		parts = append(parts, strings.Join(values, "+"))
	}
	return strings.Join(parts, ",")
}

// attribute returns one attribute of a subject as "NAME=value".
func attribute(a pkix.AttributeTypeAndValue) string {
	name := attributeNames[a.Type.String()]
	text, ok := a.Value.(string)
	if name == "" {
		name = a.Type.String()
	}
	if !ok {
		raw, err := asn1.Marshal(a.Value)
		if err != nil {
			return name + "=" + fmt.Sprint(a.Value)
		}
		return name + "=#" + hex.EncodeToString(raw)
	}
	return name + "=" + escape(text)
}

// escape writes a value so that it cannot be mistaken for several.
func escape(text string) string {
	var b strings.Builder
	for i, r := range text {
		edge := r == ' ' && (i == 0 || i == len(text)-1) || r == '#' && i == 0
		switch {
		case edge, strings.ContainsRune(`,+"\<>;`, r):
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, "\\%02X", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
