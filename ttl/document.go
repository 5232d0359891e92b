package ttl

import (
	"bytes"
	"math"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// The fields of document TTL.
const (
	ttlField = "ttl" // of a document: its own time to live in seconds
	// TSField is hidden: the second of the last write.
	TSField = "_ts"
)

// Mode says how an invalid ttl is handled.
type Mode string

// The modes.
const (
	Reject     Mode = "reject"     // the write fails; null counts as missing
	RejectNull Mode = "rejectNull" // the write fails, also with null
	Ignore     Mode = "ignore"     // it is stored and has no effect
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
	// Until is set while the policy is being replaced: documents that have not
	// expired by that instant no longer expire by it. 0: the policy is in force.
	Until   int64
	EndedBy string // the server that replaces the policy; "" without other servers
}

// Doc returns the policy as listCollections shows it and the catalog stores
// it, without Until and EndedBy.
func (p *DocumentPolicy) Doc() value.Doc {
	return value.NewDoc("default", value.Int(p.Default), "invalid", value.String(string(p.Invalid)), "exposeTs", value.Bool(p.ExposeTS))
}

// EndingDoc returns the policy as the catalog stores it while it is being
// replaced.
func (p *DocumentPolicy) EndingDoc(until int64, by string) value.Doc {
	b := value.NewBuilder()
	it := p.Doc().Iter()
	b.Raw(it.Rest()).Date("until", until)
	if by != "" {
		b.String("endedBy", by)
	}
	return b.Doc()
}

// LoadDocumentPolicy reads the result of Doc; nil if there is no policy.
func LoadDocumentPolicy(v value.Value) *DocumentPolicy {
	if v.Kind() != value.KindDocument {
		return nil
	}
	d := v.Doc()
	p := &DocumentPolicy{Default: d.Lookup("default").SafeInt64(), Invalid: Ignore, ExposeTS: d.Lookup("exposeTs").Truthy()}
	if m := Mode(d.Lookup("invalid").Str()); m == Reject || m == RejectNull {
		p.Invalid = m
	}
	if until := d.Lookup("until"); until.Kind() == value.KindDateTime {
		p.Until, p.EndedBy = until.DateTime(), d.Lookup("endedBy").Str()
	}
	return p
}

// ExpiresAt returns the instant at which a record expires; ok is false if it
// never does. A nil policy means that document TTL is off.
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
	ms = value.AddClamped(floorSeconds(r.TS)*1000, seconds*1000)
	return ms, p.Until == 0 || ms <= p.Until
}

// Visible reports whether a record has not expired yet.
func (p *DocumentPolicy) Visible(r *storage.Record, now int64) bool {
	at, ok := p.ExpiresAt(r)
	return !ok || at > now
}

// CheckWrite refuses a document with an invalid ttl, unless the policy ignores
// such values.
func (p *DocumentPolicy) CheckWrite(d value.Doc) error {
	if p == nil || p.Invalid == Ignore {
		return nil
	}
	v, given := d.Get(ttlField)
	if !given || v.Kind() == value.KindNull && p.Invalid == Reject {
		return nil
	}
	if _, ok := conforming(v); ok {
		return nil
	}
	return mongoerr.Newf(mongoerr.BadValue, "The input ttl '%s' is invalid. Ensure to provide a nonzero positive integer less than or equal to '2147483647', or '-1' which means never expire.", plain(v))
}

// StripTS removes a root _ts that a client sent, so that a client can write
// back a document that it has read.
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

// WithTS returns a record's document with _ts at its end, for collections with
// exposeTs.
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

// ownTTL returns the ttl of a document if it has a valid one. It is called for
// every document read, and most documents have no ttl: a search for the bytes
// of the name is several times faster than decoding the fields.
func ownTTL(d value.Doc) (seconds int64, ok bool) {
	if !mentionsTTL(d) {
		return 0, false
	}
	return conforming(d.Lookup(ttlField))
}

// mentionsTTL searches for ttlName. It jumps from one letter l to the next,
// because most texts have fewer of them than of t. After a limited number of
// them it uses bytes.Contains, which is faster for such texts.
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

// conforming reads a valid ttl: an int, or a whole long or double, that is -1
// or from 1 to the largest int.
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
