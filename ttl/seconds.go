package ttl

import (
	"math"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// Off stands for "off" and null in collMod.
const Off = int64(-1)

// ParseCollectionSeconds reads expireAfterSeconds of create on a clustered or
// time-series collection. now limits it: a collection cannot keep more than
// all time since 1970.
func ParseCollectionSeconds(v value.Value, now int64) (int64, error) {
	return parseCollectionSeconds("create", v, now)
}

// ParseCollModSeconds reads expireAfterSeconds of collMod: a number, or
// "off", which gives [Off].
func ParseCollModSeconds(v value.Value, now int64) (int64, error) {
	if v.Kind() == value.KindString {
		if v.Str() != "off" {
			return 0, mongoerr.Newf(mongoerr.InvalidOptions, "Invalid string value for the 'clusteredIndex::expireAfterSeconds' option. Got: '%s'. Accepted value is 'off'", v.Str())
		}
		return Off, nil
	}
	return parseCollectionSeconds("collMod", v, now)
}

// parseCollectionSeconds reads expireAfterSeconds with the checks and messages
// that create and collMod share.
func parseCollectionSeconds(command string, v value.Value, now int64) (int64, error) {
	if !v.IsNumber() {
		types := "[decimal, double, int, long]"
		if command == "collMod" {
			types = "[decimal, double, int, long, string]"
		}
		return 0, mongoerr.Newf(mongoerr.TypeMismatch, "BSON field '%s.expireAfterSeconds' is the wrong type '%s', expected types '%s'", command, v.Kind(), types)
	}
	n := v.SafeInt64()
	const tooLarge = "TTL index 'expireAfterSeconds' option must be within an acceptable range, try a different number than %d. Error: "
	switch {
	case n < 0:
		return 0, mongoerr.New(mongoerr.InvalidOptions, "TTL index 'expireAfterSeconds' option cannot be less than 0")
	case n > math.MaxInt64/1000:
		return 0, mongoerr.Newf(mongoerr.InvalidOptions, tooLarge+"option cannot overflow int64_t when cast as milliseconds", n)
	case n > floorSeconds(now):
		return 0, mongoerr.Newf(mongoerr.InvalidOptions, tooLarge+"option cannot exceed time since last epoch", n)
	}
	return n, nil
}

// ParseIndexModSeconds reads index.expireAfterSeconds of collMod for an
// index with the given key pattern.
func ParseIndexModSeconds(v value.Value, key value.Doc) (int64, error) {
	if !v.IsNumber() {
		return 0, mongoerr.Newf(mongoerr.TypeMismatch, "BSON field 'collMod.index.expireAfterSeconds' is the wrong type '%s', expected types '[decimal, double, int, long]'", v.Kind())
	}
	if key.Len() != 1 {
		return 0, mongoerr.New(mongoerr.InvalidOptions, "TTL indexes are single-field indexes, compound indexes do not support TTL")
	}
	field, _ := key.First()
	if field == "_id" {
		return 0, mongoerr.New(mongoerr.InvalidOptions, "the _id field does not support TTL indexes")
	}
	n := v.SafeInt64()
	switch {
	case v.IsNaN():
		return 0, mongoerr.New(mongoerr.InvalidOptions, "TTL index 'expireAfterSeconds' option must not be NaN")
	case field == TSField:
		if !validDefault(n) {
			return 0, mongoerr.Newf(mongoerr.InvalidOptions, "TTL index 'expireAfterSeconds' option on '_ts' must be -1 or from 1 to 2147483647, found %d", n)
		}
	case n < 0:
		return 0, mongoerr.New(mongoerr.InvalidOptions, "TTL index 'expireAfterSeconds' option cannot be less than 0")
	}
	return min(n, math.MaxInt32), nil // as collMod's IDL clamps it
}

// SameSecond reports whether two writes at these instants have the same _ts.
func SameSecond(a, b int64) bool { return floorSeconds(a) == floorSeconds(b) }

// floorSeconds turns milliseconds into whole seconds, down.
func floorSeconds(ms int64) int64 {
	s := ms / 1000
	if ms%1000 < 0 {
		s--
	}
	return s
}

// milliseconds turns seconds into milliseconds, stopping at the largest.
func milliseconds(seconds int64) int64 {
	if seconds > math.MaxInt64/1000 {
		return math.MaxInt64
	}
	return seconds * 1000
}
