package kernel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/serverdocs"
	"github.com/duskdb/duskdb/value"
)

// VersionNamespace has the feature compatibility version, as every mongod has it from its
// first start.
var VersionNamespace = storage.Namespace{DB: "admin", Coll: "system.version"}

// featureVersionID is the _id of the document with the feature compatibility version.
const featureVersionID = "featureCompatibilityVersion"

// FeatureVersionDoc is the document that stores a feature compatibility version.
func FeatureVersionDoc(version string) value.Doc {
	return value.NewDoc("_id", value.String(featureVersionID), "version", value.String(version))
}

// readFeatureVersion returns the feature compatibility version among documents; "": none
// is stored.
func readFeatureVersion(docs []value.Doc) *string {
	version := ""
	for _, d := range docs {
		if d.Lookup("_id").Str() == featureVersionID {
			version = d.Lookup("version").Clone().Str()
		}
	}
	return &version
}

// Dialect is the version of MongoDB that the server speaks at present. It follows the
// stored feature compatibility version, which clients of any server over the same data
// may change.
func (s *Service) Dialect() dialect.Dialect {
	spoken := s.Options.Dialect
	stored, err := s.Settings.features.Get(s.Background, s.Engine)
	if err != nil {
		return spoken // what the dialect is for cannot be read either
	}
	if as, ok := spoken.As(*stored); ok {
		return as
	}
	return spoken
}

// RootScope is the scope of expressions that use no variables.
func (s *Service) RootScope() *expr.Scope {
	if d := s.Dialect(); d != dialect.Mongo82 {
		return expr.NewScope(d)
	}
	return nil // the same, without an allocation
}

// KeepFeatureVersion stores the feature compatibility version of the server's own version
// unless one is stored already. It is an error if that is one of another version.
func KeepFeatureVersion(s *Service) error {
	var stored value.Doc
	err := s.Engine.View(s.Background, func(tx storage.Tx) (err error) {
		stored, err = serverdocs.Get(tx, VersionNamespace, value.String(featureVersionID))
		return err
	})
	if err != nil {
		return err
	}
	if stored != nil {
		err = checkFeatureVersion(s.Options.Dialect, stored)
	} else {
		err = storage.Retry(s.Background, s.Engine, func(tx storage.Tx) error {
			return serverdocs.Put(tx, VersionNamespace, FeatureVersionDoc(s.Options.Dialect.FeatureVersion()), s.Clock.NowMillis())
		})
	}
	s.Dialect() // commands find it read
	return err
}

// checkFeatureVersion refuses the data of a version that the server does not speak, as
// mongod does.
func checkFeatureVersion(spoken dialect.Dialect, stored value.Doc) error {
	version := stored.Lookup("version").Str()
	if _, ok := spoken.As(version); ok {
		return nil
	}
	return fmt.Errorf("the data has the feature compatibility version %q, which MongoDB %s cannot use; start the server as the version that has written it, and set the feature compatibility version %q first",
		version, spoken.Release(), spoken.FeatureVersion())
}

// CheckFeatureVersion returns the error of a feature compatibility version that the
// version does not know.
func CheckFeatureVersion(d dialect.Dialect, version string) error {
	known := d.FeatureVersions()
	if slices.Contains(known, version) {
		return nil
	}
	return mongoerr.Newf(4926900, "Invalid feature compatibility version value '%s'; expected '%s'. See https://dochub.mongodb.org/core/%s-feature-compatibility.",
		version, strings.Join(known, "' or '"), d.Release())
}

// FeatureVersionParameter shows the feature compatibility version. A command of its own sets
// it.
func FeatureVersionParameter() Parameter {
	return Parameter{
		Name: featureVersionID, Initial: value.Document(value.NewDoc("version", value.String(dialect.Newest))), Check: CheckString(featureVersionID),
		read: func(s *Service) value.Value {
			return value.Document(value.NewDoc("version", value.String(s.Dialect().FeatureVersion())))
		},
	}
}
