package ttl

import (
	"bytes"
	"math"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// The fields of document TTL.
const (
	ttlField = "ttl" // of a document: its own time to live in seconds
	// TSField is hidden: the second of the last write.
	TSField = "_ts"
)

// Mode says what happens to a ttl that does not conform.
type Mode string

// The modes.
const (
	Reject Mode = "reject" // the write fails
	Ignore Mode = "ignore" // it is stored and has no meaning
)

// Never is the default of a collection in which only documents with a ttl of
// their own expire.
const Never = int64(-1)

// DocumentPolicy is document TTL: a document expires a number of seconds
// after its last write, and is invisible from that instant. It is immutable.
type DocumentPolicy struct {
	Default  int64 // seconds, or Never
	Invalid  Mode
	ExposeTS bool // documents are returned with _ts
	// Until is set while the policy makes way for another one: what has not
	// expired by that instant does not expire any more. 0: the policy stands.
	Until int64
}

// Doc is the policy as listCollections shows it and the catalog keeps it, but
// for Until.
func (p *DocumentPolicy) Doc() value.Doc {
	return value.NewDoc("default", value.Int(p.Default), "invalid", value.String(string(p.Invalid)), "exposeTs", value.Bool(p.ExposeTS))
}

// EndingDoc is the policy as the catalog keeps it while it makes way.
func (p *DocumentPolicy) EndingDoc(until int64) value.Doc {
	return value.NewDoc("default", value.Int(p.Default), "invalid", value.String(string(p.Invalid)), "exposeTs", value.Bool(p.ExposeTS), "until", value.DateTime(until))
}

// LoadDocumentPolicy reads what Doc wrote; nil if there is no policy.
func LoadDocumentPolicy(v value.Value) *DocumentPolicy {
	if v.Kind() != value.KindDocument {
		return nil
	}
	d := v.Doc()
	p := &DocumentPolicy{Default: d.Lookup("default").SafeInt64(), Invalid: Ignore, ExposeTS: d.Lookup("exposeTs").Truthy()}
	if d.Lookup("invalid").Str() == string(Reject) {
		p.Invalid = Reject
	}
	if until := d.Lookup("until"); until.Kind() == value.KindDateTime {
		p.Until = until.DateTime()
	}
	return p
}

// ExpiresAt returns the instant at which a record expires; ok is false if it
// never does. A nil policy is one that is off.
func (p *DocumentPolicy) ExpiresAt(r *storage.Record) (ms int64, ok bool) {
	if p == nil {
		return 0, false
	}
	seconds, own := ownTTL(r.Doc)
	if !own {
		seconds = p.Default
	}
	if seconds < 0 {
		return 0, false
	}
	ms = plus(floorSeconds(r.TS)*1000, seconds*1000)
	return ms, p.Until == 0 || ms <= p.Until
}

// Visible reports whether a record has not expired yet.
func (p *DocumentPolicy) Visible(r *storage.Record, now int64) bool {
	at, ok := p.ExpiresAt(r)
	return !ok || at > now
}

// CheckWrite refuses a document whose ttl does not conform, unless such a
// ttl is ignored.
func (p *DocumentPolicy) CheckWrite(d value.Doc) error {
	if p == nil || p.Invalid != Reject {
		return nil
	}
	v, given := d.Get(ttlField)
	if !given || v.Kind() == value.KindNull { // which is as good as none
		return nil
	}
	if _, ok := conforming(v); ok {
		return nil
	}
	return mongoerr.Newf(mongoerr.BadValue, "The input ttl '%s' is invalid. Ensure to provide a nonzero positive integer less than or equal to '2147483647', or '-1' which means never expire.", plain(v))
}

// StripTS removes a root _ts that a client sent, so that what was read can
// be written back.
func StripTS(d value.Doc) value.Doc {
	if !d.Has(TSField) {
		return d
	}
	b := value.NewBuilder()
	for it := d.Iter(); it.Next(); {
		if it.Key() != TSField {
			b.Raw(it.Element())
		}
	}
	return b.Doc()
}

// WithTS returns a record's document with _ts at its end, as it is shown
// when exposeTs is on.
func WithTS(r *storage.Record) value.Doc {
	b := value.NewBuilder()
	for it := r.Doc.Iter(); it.Next(); {
		if it.Key() != TSField {
			b.Raw(it.Element())
		}
	}
	return b.Int64(TSField, floorSeconds(r.TS)).Doc()
}

// ttlName is the name of the field as it stands in a document.
var ttlName = []byte(ttlField + "\x00")

// ownTTL returns the ttl of a document if it has a conforming one. Every
// read of every document asks, and most have none: a search for the bytes of
// the name is several times faster than a walk over the fields.
func ownTTL(d value.Doc) (seconds int64, ok bool) {
	if !mentionsTTL(d) {
		return 0, false
	}
	return conforming(d.Lookup(ttlField))
}

// mentionsTTL looks for ttlName. It goes from one l to the next, as there are
// fewer of them in most texts than of t, and no more than some: of what has many,
// bytes.Contains knows better.
func mentionsTTL(d []byte) bool {
	i := 0 // d[i] may be the l
	for range 16 {
		next := bytes.IndexByte(d[i:], ttlName[2])
		if next < 0 {
			return false
		}
		if i += next + 1; i >= 3 && i < len(d) && d[i] == 0 && d[i-2] == ttlName[1] && d[i-3] == ttlName[0] {
			return true
		}
	}
	return bytes.Contains(d[i:], ttlName)
}

// conforming reads a ttl: an int, or a whole long or double, that is -1 or
// from 1 to the largest int.
func conforming(v value.Value) (seconds int64, ok bool) {
	switch v.Kind() {
	case value.KindInt32, value.KindInt64, value.KindDouble:
		n, exact := v.AsInt64()
		if exact && validDefault(n) {
			return n, true
		}
	}
	return 0, false
}

func validDefault(n int64) bool { return n == Never || n > 0 && n <= math.MaxInt32 }

// plain prints a value as messages quote it: strings without quotes.
func plain(v value.Value) string {
	if v.Kind() == value.KindString {
		return v.Str()
	}
	return v.String()
}
