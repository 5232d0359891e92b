package auth

import (
	"net/netip"
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// CheckRestrictions refuses invalid authenticationRestrictions; valid is an
// array of {clientSource: [...], serverAddress: [...]}, each a list of
// addresses or CIDR ranges.
func CheckRestrictions(array value.Doc) error {
	for v := range array.Values() {
		if v.Kind() != value.KindDocument {
			return mongoerr.New(mongoerr.UnsupportedFormat, "'authenticationRestrictions' array sub-documents must be address restriction objects")
		}
		if v.Doc().IsEmpty() {
			return mongoerr.New(mongoerr.BadValue, "At least one of 'clientSource' and/or 'serverAddress' must be set")
		}
		for name, list := range v.Doc().All() {
			if name != "clientSource" && name != "serverAddress" {
				return mongoerr.UnknownField("address restriction." + name)
			}
			if err := checkRanges(name, list); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkRanges(name string, list value.Value) error {
	for _, text := range rangesOf(list) {
		if text.Kind() != value.KindString {
			return mongoerr.Newf(mongoerr.TypeMismatch, "BSON field 'address restriction.%s' is the wrong type '%s', expected type 'string'", name, text.Kind())
		}
		if _, ok := parseRange(text.Str()); !ok {
			return mongoerr.Newf(mongoerr.BadValue, "Invalid IP address in CIDR string: %s", text.Str())
		}
	}
	return nil
}

// rangesOf lists the ranges: an array of them, or one.
func rangesOf(v value.Value) (out []value.Value) {
	if v.Kind() != value.KindArray {
		return []value.Value{v}
	}
	for e := range v.Doc().Values() {
		out = append(out, e)
	}
	return out
}

func parseRange(text string) (netip.Prefix, bool) {
	if strings.Contains(text, "/") {
		p, err := netip.ParsePrefix(text)
		return p, err == nil
	}
	a, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Prefix{}, false
	}
	return netip.PrefixFrom(a, a.BitLen()), true
}

// allowed reports whether a client at peer may log in: each set of
// restrictions, the user's and those of the roles, must have one that matches.
func allowed(own value.Doc, ofRoles []value.Doc, peer Peer) bool {
	for _, set := range append([]value.Doc{own}, ofRoles...) {
		if set == nil || set.IsEmpty() {
			continue
		}
		fits := false
		for v := range set.Values() {
			fits = fits || fitsAddress(v.Doc(), "clientSource", peer.Remote) && fitsAddress(v.Doc(), "serverAddress", peer.Local)
		}
		if !fits {
			return false
		}
	}
	return true
}

// fitsAddress reports whether an address is in one of the ranges of a
// restriction's field, or the field is missing.
func fitsAddress(d value.Doc, field, hostPort string) bool {
	v, given := d.Get(field)
	if !given {
		return true
	}
	addr, ok := hostAddr(hostPort)
	if !ok {
		return false // restrictions cannot be met over a Unix socket
	}
	for _, text := range rangesOf(v) {
		if p, ok := parseRange(text.Str()); ok && p.Contains(addr) {
			return true
		}
	}
	return false
}
