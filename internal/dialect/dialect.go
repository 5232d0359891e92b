// Package dialect says what differs between the versions of MongoDB that the server can
// speak. Nothing else in the project asks for a version: code asks whether a [Change] has
// been made, or for the [Error] of a situation.
//
// A server speaks one version for as long as it runs. Besides, it has a feature
// compatibility version, which clients can set: with an older one, changes that MongoDB
// guards by it are not in effect.
package dialect

import "github.com/duskdb/duskdb/internal/mongoerr"

// Dialect is a version together with a feature compatibility version. The zero value is
// the newest of both.
type Dialect uint8

// The dialects.
const (
	Mongo82      Dialect = iota // 8.2
	Mongo82As80                 // 8.2 with the feature compatibility version 8.0
	Mongo80                     // 8.0
	dialectCount = iota
)

// version is what clients see of a version.
type version struct {
	Full     string   // as in buildInfo
	Release  string   // the release series
	Feature  string   // feature compatibility version
	Features []string // all feature compatibility versions that it knows, in order
	Wire     int32    // maxWireVersion
}

var (
	known82 = []string{"8.0", "8.1", "8.2"}
	known80 = []string{"7.0", "7.3", "8.0"}
)

var versions = [dialectCount]version{
	Mongo82:     {Full: NewestFull, Release: Newest, Feature: "8.2", Features: known82, Wire: 27},
	Mongo82As80: {Full: NewestFull, Release: Newest, Feature: "8.0", Features: known82, Wire: 27},
	Mongo80:     {Full: "8.0.16", Release: "8.0", Feature: "8.0", Features: known80, Wire: 25},
}

// The version that a server speaks by default.
const (
	Newest     = "8.2"   // release series
	NewestFull = "8.2.4" // as in buildInfo
)

// Releases are the release series that a server can speak.
func Releases() []string { return []string{Newest, "8.0"} }

// Speak returns the dialect of a release series with its own feature compatibility
// version, of the newest series for "". ok is false if the series is not one of [Releases].
func Speak(release string) (d Dialect, ok bool) {
	switch release {
	case "", Newest:
		return Mongo82, true
	case "8.0":
		return Mongo80, true
	}
	return Mongo82, false
}

// As returns the dialect of the same version with another feature compatibility version.
// ok is false if the version cannot work with it.
func (d Dialect) As(feature string) (as Dialect, ok bool) {
	for as := range Dialect(dialectCount) {
		if versions[as].Release == versions[d].Release && versions[as].Feature == feature {
			return as, true
		}
	}
	return d, false
}

// Version is the version that buildInfo and other replies name.
func (d Dialect) Version() string { return versions[d].Full }

// Release is the release series, as in "MongoDB 8.2".
func (d Dialect) Release() string { return versions[d].Release }

// FeatureVersion is the feature compatibility version.
func (d Dialect) FeatureVersion() string { return versions[d].Feature }

// FeatureVersions are the feature compatibility versions that the version knows. It need
// not be able to work with all of them, see [Dialect.As].
func (d Dialect) FeatureVersions() []string { return versions[d].Features }

// WireVersion is hello's maxWireVersion.
func (d Dialect) WireVersion() int32 { return versions[d].Wire }

// Has reports whether a change is in effect.
func (d Dialect) Has(c Change) bool {
	return c == Always || d == Mongo82 || d == Mongo82As80 && !Changes[c].Guarded
}

// Change is something that a version after 8.0 does differently.
type Change uint8

// Row describes a change.
type Row struct {
	Since   string // version of MongoDB that has made it first
	Guarded bool   // whether it needs that version's feature compatibility version as well
	What    string // what a client can do, or sees, since then
}

// Error is an error whose code or text has changed. Both texts have the same arguments.
type Error struct {
	Since       string // version of MongoDB that has changed it first
	Before, Now Text
}

// Text is an error in one version.
type Text struct {
	Code   mongoerr.Code
	Format string
}

// AggregationFailed is the prefix of errors of a running aggregation of the namespace.
func (d Dialect) AggregationFailed(ns string) string {
	if !d.Has(NamespaceOfAggregation) {
		return "PlanExecutor error during aggregation"
	}
	return "Executor error during aggregate command on namespace: " + ns
}

// Error returns an error in the dialect's words.
func (d Dialect) Error(e *Error, args ...any) error {
	t := e.Now
	if d == Mongo80 {
		t = e.Before
	}
	return mongoerr.Newf(t.Code, t.Format, args...)
}
