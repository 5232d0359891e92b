package index

import (
	"math"
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/query/collation"
	"github.com/duskdb/duskdb/value"
)

// ParseOptions are the properties of the collection that affect an index.
type ParseOptions struct {
	// Collation is the collection's default collation in full, nil for simple. An
	// index without a collation inherits it.
	Collation value.Doc
	// Measurements is true for an index on the measurements of a time series, where _id
	// is a field like others.
	Measurements bool
}

// Parse checks an index specification as it came from a client, completes
// it and compiles it. All errors carry the codes and messages of mongod.
func Parse(spec value.Doc, o ParseOptions) (*Spec, error) {
	if err := checkSpec(spec); err != nil {
		return nil, mongoerr.From(err).WithPrefix("Error in specification " + spec.String())
	}
	if err := checkID(spec, o); err != nil {
		return nil, err
	}
	if err := checkTTL(spec); err != nil {
		return nil, err
	}
	full, err := complete(spec, o)
	if err != nil {
		return nil, err
	}
	if err := checkCombination(full); err != nil {
		return nil, err
	}
	if err := checkIDCollation(full, o); err != nil {
		return nil, err
	}
	return Load(full)
}

// optionCheck checks the value of one option in its specification.
type optionCheck func(spec value.Doc, name string, v value.Value) error

// optionChecks names the fields of a specification. A nil check takes any
// value.
var optionChecks = map[string]optionCheck{
	"2dsphereIndexVersion":    wantNumber,
	"_id":                     nil,
	"background":              wantBoolLike,
	"bits":                    wantNumber,
	"bucketSize":              wantNumber,
	"coarsestIndexedLevel":    wantNumber,
	"collation":               checkCollationOption,
	"default_language":        wantString,
	"dropDups":                wantBoolLike,
	"expireAfterSeconds":      nil, // see checkTTL
	"finestIndexedLevel":      wantNumber,
	"hidden":                  checkHidden,
	"key":                     checkKeyOption,
	"language_override":       wantString,
	"max":                     wantNumber,
	"min":                     wantNumber,
	"name":                    wantString,
	"ns":                      nil,
	"partialFilterExpression": checkPartialOption,
	"prepareUnique":           wantBoolLike,
	"sparse":                  wantBoolLike,
	"storageEngine":           nil, // see checkStorageEngine
	"textIndexVersion":        wantNumber,
	"unique":                  wantBoolLike,
	"v":                       checkVersion,
	"weights":                 checkWeights,
	"wildcardProjection":      checkProjectionOption,
}

// KnownOptions removes the unknown fields of a specification, for
// ignoreUnknownIndexOptions: tools restore indexes with options of old
// servers.
func KnownOptions(spec value.Doc) value.Doc {
	b := value.NewBuilder()
	for name, v := range spec.All() {
		if _, known := optionChecks[name]; known {
			b.Append(name, v)
		}
	}
	return b.Doc()
}

// clusteredOptions names the fields of a clustered index's specification.
var clusteredOptions = map[string]optionCheck{
	"clustered":          wantBoolLike,
	"expireAfterSeconds": nil,
	"key":                checkKeyOption,
	"name":               wantString,
	"unique":             wantBoolLike,
	"v":                  checkVersion,
}

// checkSpec checks the fields of a specification one by one, and then their
// combination.
func checkSpec(spec value.Doc) error {
	options, kind := optionChecks, "an index"
	if spec.Has("clustered") {
		options, kind = clusteredOptions, "a clustered index"
	}
	for name := range spec.All() {
		if _, ok := options[name]; !ok {
			return mongoerr.Newf(mongoerr.InvalidIndexSpecificationOption, "The field '%s' is not valid for %s specification. Specification: %s", name, kind, spec)
		}
	}
	for name, v := range spec.All() {
		if check := options[name]; check != nil {
			if err := check(spec, name, v); err != nil {
				return err
			}
		}
	}
	for _, name := range []string{"key", "name"} {
		if !spec.Has(name) {
			return mongoerr.Newf(mongoerr.FailedToParse, "The '%s' field is a required property of an index specification", name)
		}
	}
	return checkSpecCombination(spec)
}

// checkSpecCombination applies the rules between options that hold for any
// type of index.
func checkSpecCombination(spec value.Doc) error {
	if v, ok := spec.Get("clustered"); ok {
		if !v.Truthy() {
			return mongoerr.New(6492800, "Value 'false' for field 'clustered' is invalid")
		}
		if !spec.Lookup("unique").Truthy() {
			return cannotCreate("The 'unique' field is required when 'clustered' is specified")
		}
	}
	if spec.Has("collation") && version(spec) < 2 {
		return cannotCreate("Invalid index specification %s; cannot create an index with the 'collation' option and v=%d", spec, version(spec))
	}
	if spec.Has("weights") && patternPlugin(spec.Lookup("key").Doc()) != Text.String() {
		return cannotCreate("Invalid index specification %s; the field 'weights' can only be specified with text indexes", spec)
	}
	if spec.Lookup("unique").Truthy() && spec.Lookup("prepareUnique").Truthy() {
		return cannotCreate("Invalid index specification %s; cannot create an index with the 'unique' option and the 'prepareUnique' option", spec)
	}
	return nil
}

// version is the v of a checked specification.
func version(spec value.Doc) int32 {
	if v, ok := spec.Get("v"); ok {
		return int32(v.SafeInt64())
	}
	return 2
}

func wrongType(name, want string, v value.Value) error {
	return mongoerr.Newf(mongoerr.TypeMismatch, "The field '%s' must be %s, but got %s", name, want, v.Kind())
}

func wantNumber(_ value.Doc, name string, v value.Value) error {
	if !v.IsNumber() {
		return wrongType(name, "a number", v)
	}
	return nil
}

func wantString(_ value.Doc, name string, v value.Value) error {
	if v.Kind() != value.KindString {
		return wrongType(name, "a string", v)
	}
	return nil
}

func wantBoolLike(_ value.Doc, name string, v value.Value) error {
	if !v.IsNumber() && v.Kind() != value.KindBool {
		return mongoerr.Newf(mongoerr.TypeMismatch, "The field '%s has value %s: %s, which is not convertible to bool", name, name, v)
	}
	return nil
}

func checkHidden(_ value.Doc, name string, v value.Value) error {
	if v.Kind() != value.KindBool {
		return wrongType(name, "a bool", v)
	}
	return nil
}

// checkKeyOption checks the key pattern and its version.
func checkKeyOption(spec value.Doc, name string, v value.Value) error {
	if v.Kind() != value.KindDocument {
		return wrongType(name, "an object", v)
	}
	key := v.Doc()
	seen := map[string]bool{}
	for field := range key.All() {
		if seen[field] {
			return mongoerr.Newf(mongoerr.BadValue, "The field '%s' appears multiple times in the index key pattern %s", field, key)
		}
		seen[field] = true
	}
	if err := checkPattern(key); err != nil {
		return err
	}
	compoundAll := key.Has(wildcardSuffix) && key.Len() > 1 && patternPlugin(key) == Wildcard.String()
	if compoundAll && !spec.Has("wildcardProjection") {
		return cannotCreate("Compound wildcard indexes on all fields must also specify 'wildcardProjection' option")
	}
	return nil
}

func checkVersion(spec value.Doc, name string, v value.Value) error {
	if !v.IsNumber() {
		return wrongType(name, "a number", v)
	}
	n, exact := v.AsInt64()
	if !exact || n != int64(int32(n)) {
		return mongoerr.Newf(mongoerr.BadValue, "Index version must be representable as a 32-bit integer, but got %s", v)
	}
	if n != 1 && n != 2 {
		return cannotCreate("Invalid index specification %s; cannot create an index with v=%d", spec, n)
	}
	return nil
}

func checkCollationOption(_ value.Doc, name string, v value.Value) error {
	if v.Kind() != value.KindDocument {
		return wrongType(name, "an object", v)
	}
	if v.Doc().IsEmpty() {
		return mongoerr.New(mongoerr.BadValue, "The field 'collation' cannot be an empty object.")
	}
	return nil
}

func checkPartialOption(_ value.Doc, name string, v value.Value) error {
	if v.Kind() != value.KindDocument {
		return wrongType(name, "an object", v)
	}
	_, err := compilePartial(v.Doc(), nil)
	return err
}

func checkProjectionOption(spec value.Doc, _ string, v value.Value) error {
	key := spec.Lookup("key")
	if key.Kind() != value.KindDocument {
		return wrongType("key", "an object", key)
	}
	return checkWildcardProjection(key.Doc(), v)
}

func checkWeights(_ value.Doc, name string, v value.Value) error {
	switch v.Kind() {
	case value.KindDocument, value.KindArray, value.KindString:
		return nil
	}
	return wrongType(name, "an object", v)
}

// idOptions names the fields that the specification of the index on _id may
// have.
var idOptions = map[string]bool{"collation": true, "name": true, "v": true, "key": true, "ns": true, "_id": true}

// checkID applies the rules for the index on _id, and refuses its name for
// other indexes.
func checkID(spec value.Doc, o ParseOptions) error {
	key := spec.Lookup("key").Doc()
	name := spec.Lookup("name").Str()
	if o.Measurements || !isIDKey(key) {
		switch {
		case name == reserved.IDIndex:
			return mongoerr.Newf(mongoerr.BadValue, "The index name '_id_' is reserved for the _id index, which must have key pattern {_id: 1}, found %s", key)
		case name == "*", IsInternal(name):
			return mongoerr.Newf(mongoerr.BadValue, "The index name '%s' is not valid.", name)
		}
		return nil
	}
	if !spec.Has("clustered") {
		for field := range spec.All() {
			if !idOptions[field] {
				return mongoerr.Newf(mongoerr.InvalidIndexSpecificationOption, "The field '%s' is not valid for an _id index specification. Specification: %s", field, spec)
			}
		}
	}
	if _, v := key.First(); v.SafeInt64() != 1 {
		return mongoerr.Newf(mongoerr.BadValue, "The field 'key' for an _id index must be {_id: 1}, but got %s", key)
	}
	return nil
}

// checkIDCollation checks that the index on _id has the collation of its
// collection.
func checkIDCollation(full value.Doc, o ParseOptions) error {
	if o.Measurements || !isIDKey(full.Lookup("key").Doc()) {
		return nil
	}
	own := full.Lookup("collation").Doc()
	if own == nil {
		own = value.EmptyDoc
	}
	inherited := o.Collation
	if inherited == nil || isSimple(inherited) {
		inherited = value.EmptyDoc
	}
	if value.CompareDocs(own, inherited, nil) != 0 {
		return cannotCreate("_id index must have the collection default collation")
	}
	return nil
}

func isSimple(spec value.Doc) bool { return spec.Lookup("locale").Str() == "simple" }

// checkTTL applies the rules for expireAfterSeconds.
func checkTTL(spec value.Doc) error {
	v, ok := spec.Get("expireAfterSeconds")
	if !ok || spec.Has("clustered") {
		return nil
	}
	if err := checkExpireAfter(v); err != nil {
		return err.WithPrefix(". Index spec: " + spec.String())
	}
	if spec.Lookup("key").Doc().Len() != 1 {
		return cannotCreate("TTL indexes are single-field indexes, compound indexes do not support TTL. Index spec: %s", spec)
	}
	return nil
}

// checkExpireAfter checks the range of expireAfterSeconds.
func checkExpireAfter(v value.Value) *mongoerr.Error {
	const option = "TTL index 'expireAfterSeconds' option "
	if !v.IsNumber() {
		return cannotCreate(option+"must be numeric, but received a type of '%s'", v.Kind())
	}
	if v.IsNaN() {
		return cannotCreate(option + "must not be NaN")
	}
	switch n := v.SafeInt64(); {
	case n > math.MaxInt32 || n < math.MinInt32:
		if n < 0 {
			return cannotCreate(option + "cannot be less than 0")
		}
		return cannotCreate("TTL index 'expireAfterSeconds' must be within the range of a 32-bit integer")
	case n < 0 || v.AsDouble() < 0 && v.AsDouble() <= -1:
		return cannotCreate(option + "cannot be less than 0")
	}
	return nil
}

// checkCombination applies the rules for the completed specification as a
// whole.
func checkCombination(full value.Doc) error {
	name := full.Lookup("name").Str()
	switch {
	case strings.Contains(name, "\x00"):
		return cannotCreate("index name cannot contain NUL bytes")
	case name == "":
		return cannotCreate("index name cannot be empty")
	}
	if full.Lookup("key").Doc().Len() > maxFields {
		return mongoerr.New(13103, "too many compound keys")
	}
	plugin := patternPlugin(full.Lookup("key").Doc())
	if c, ok := full.Get("collation"); ok && (plugin == Text.String() || plugin == Geo2D.String()) {
		return cannotCreate("Index type '%s' does not support collation: %s", plugin, c)
	}
	if err := checkPlugins(full, plugin); err != nil {
		return err
	}
	if filter, ok := full.Get("partialFilterExpression"); ok {
		if full.Lookup("sparse").Truthy() {
			return cannotCreate(`cannot mix "partialFilterExpression" and "sparse" options`)
		}
		if err := checkPartial(filter.Doc()); err != nil {
			return err
		}
	}
	return checkStorageEngine(full)
}

// checkPlugins applies the rules of the special kinds of indexes.
func checkPlugins(full value.Doc, plugin string) error {
	switch plugin {
	case Wildcard.String():
		for _, option := range []string{"sparse", "unique"} {
			if full.Lookup(option).Truthy() {
				return cannotCreate("Index type 'wildcard' does not support the '%s' option", option)
			}
		}
		if full.Has("expireAfterSeconds") {
			return cannotCreate("Index type 'wildcard' cannot be a TTL index")
		}
		if v := version(full); v < 2 {
			return cannotCreate("Index type 'wildcard' is not allowed with index version v: %d", v)
		}
	case Hashed.String():
		return checkHashed(full)
	case Geo2D.String():
		return checkPlanar(full)
	}
	return nil
}

// checkHashed applies the rules for hashed indexes.
func checkHashed(full value.Doc) error {
	key := full.Lookup("key").Doc()
	n := 0
	for _, v := range key.All() {
		if v.Kind() == value.KindString {
			n++
		}
	}
	if n > 1 {
		return mongoerr.Newf(31303, "A maximum of one index field is allowed to be hashed but found %d for 'key' %s", n, key)
	}
	if full.Lookup("unique").Truthy() || full.Lookup("prepareUnique").Truthy() {
		return mongoerr.New(16764, "Currently hashed indexes cannot guarantee uniqueness. Use a regular index.")
	}
	return nil
}

// checkStorageEngine checks the form of the option storageEngine, which has no
// effect.
func checkStorageEngine(full value.Doc) error {
	v, ok := full.Get("storageEngine")
	if !ok {
		return nil
	}
	if v.Kind() != value.KindDocument {
		return cannotCreate(`"storageEngine" options must be a document if present`)
	}
	if v.Doc().IsEmpty() {
		return cannotCreate("Empty \"storageEngine\" options are invalid. Please remove the field or include valid options.")
	}
	for engine, options := range v.Doc().All() {
		if options.Kind() != value.KindDocument {
			return mongoerr.Newf(mongoerr.BadValue, "'storageEngine.%s' has to be an embedded document.", engine)
		}
		if engine != "wiredTiger" {
			return mongoerr.Newf(mongoerr.InvalidOptions, "%s is not a registered storage engine for this server", engine)
		}
	}
	return nil
}

// compileCollation compiles the collation of a completed specification.
func compileCollation(full value.Doc) (*collation.Collation, error) {
	v, ok := full.Get("collation")
	if !ok {
		return nil, nil
	}
	return collation.Parse(v.Doc())
}
