package ttl

import (
	"math"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// TSIndexName is the name of the index on _ts in lists, OtherTSIndexName its
// name if a user's index has that name.
const (
	TSIndexName      = "_ts_1"
	OtherTSIndexName = "_ts_1_documentTtl"
)

// IsTSKey reports whether a key pattern is {_ts: ±1}.
func IsTSKey(key value.Doc) bool {
	name, v := key.First()
	if name != TSField || !v.IsNumber() || key.Len() != 1 {
		return false
	}
	n := v.AsDouble()
	return n == 1 || n == -1
}

// ParseTSIndex recognises the second way to switch document TTL on: a TTL
// index on _ts. ok is false for every other index.
func ParseTSIndex(spec value.Doc) (p *DocumentPolicy, ok bool, err error) {
	v := spec.Lookup("expireAfterSeconds")
	if v.IsMissing() || !IsTSKey(spec.Lookup("key").Doc()) {
		return nil, false, nil
	}
	for _, name := range []string{"unique", "sparse", "prepareUnique", "partialFilterExpression", "collation"} {
		if o := spec.Lookup(name); o.Truthy() {
			return nil, true, cannotCreate("the TTL index on '_ts' does not support the option '%s'", name)
		}
	}
	switch {
	case !v.IsNumber():
		return nil, true, cannotCreate("TTL index 'expireAfterSeconds' option must be numeric, but received a type of '%s'", v.Kind())
	case v.IsNaN():
		return nil, true, cannotCreate("TTL index 'expireAfterSeconds' option must not be NaN")
	}
	n := v.SafeInt64()
	switch {
	case n > math.MaxInt32:
		return nil, true, cannotCreate("TTL index 'expireAfterSeconds' option must be within the range of a 32-bit integer, try a different number than %d", n)
	case !validDefault(n):
		return nil, true, cannotCreate("TTL index 'expireAfterSeconds' option on '_ts' must be -1 or from 1 to 2147483647")
	}
	return &DocumentPolicy{Default: n, Invalid: Ignore}, true, nil
}

// TSIndex returns the entry of listIndexes for a collection with the policy,
// however it was switched on.
func (p *DocumentPolicy) TSIndex() value.Doc { return p.NamedTSIndex(TSIndexName) }

// NamedTSIndex is TSIndex with another name, for collections with a user's
// index of that name.
func (p *DocumentPolicy) NamedTSIndex(name string) value.Doc {
	return value.NewDoc("v", value.Int32(2), "key", value.Document(value.NewDoc(TSField, value.Int32(1))),
		"name", value.String(name), "expireAfterSeconds", value.Int32(int32(p.Default)))
}

// CompareTSIndex checks a request to create a TTL index on _ts if the policy p
// is on already: nil means that nothing is to be done.
func (p *DocumentPolicy) CompareTSIndex(wanted *DocumentPolicy) error {
	if p.Default == wanted.Default {
		return nil
	}
	return mongoerr.Newf(mongoerr.IndexOptionsConflict, "An equivalent index already exists with the same name but different options. Requested index: %s, existing index: %s", wanted.TSIndex(), p.TSIndex())
}

// ErrStrict refuses TTL on any field but _ts if documentTtlStrictTsOnly is
// set.
var ErrStrict = mongoerr.New(mongoerr.BadValue, "The 'expireAfterSeconds' option is supported on '_ts' field only.")

// CheckStrict applies the parameter documentTtlStrictTsOnly to an index: TTL
// on any field but _ts is refused.
func CheckStrict(spec value.Doc) error {
	if spec.Has("expireAfterSeconds") && !IsTSKey(spec.Lookup("key").Doc()) {
		return ErrStrict
	}
	return nil
}

func cannotCreate(format string, args ...any) error {
	return mongoerr.Newf(mongoerr.CannotCreateIndex, format, args...)
}
