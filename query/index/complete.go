package index

import (
	"slices"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/internal/reserved"
	"github.com/duskdb/duskdb/query/collation"
	"github.com/duskdb/duskdb/query/plan"
	"github.com/duskdb/duskdb/query/text"
	"github.com/duskdb/duskdb/value"
)

// specFields is a specification while it is completed: its fields in order.
type specFields struct {
	names  []string
	values []value.Value
}

func (d *specFields) find(name string) int {
	for i, n := range d.names {
		if n == name {
			return i
		}
	}
	return -1
}

func (d *specFields) get(name string) value.Value {
	if i := d.find(name); i >= 0 {
		return d.values[i]
	}
	return value.Value{}
}

// set replaces a field in its place, or appends it.
func (d *specFields) set(name string, v value.Value) {
	if i := d.find(name); i >= 0 {
		d.values[i] = v
		return
	}
	d.names = append(d.names, name)
	d.values = append(d.values, v)
}

func (d *specFields) remove(name string) {
	if i := d.find(name); i >= 0 {
		d.names = append(d.names[:i:i], d.names[i+1:]...)
		d.values = append(d.values[:i:i], d.values[i+1:]...)
	}
}

// fieldsOf reads a document; of repeated fields the last one counts.
func fieldsOf(spec value.Doc) *specFields {
	d := &specFields{}
	for name, v := range spec.All() {
		d.set(name, v)
	}
	return d
}

// doc writes the fields as listIndexes shows them: v, key, name, the rest.
func (d *specFields) doc() value.Doc { return d.ordered("v", "key", "name") }

// ordered writes the fields, those that are named first.
func (d *specFields) ordered(first ...string) value.Doc {
	b := value.NewBuilder()
	for _, name := range first {
		if v := d.get(name); !v.IsMissing() {
			b.Append(name, v)
		}
	}
	for i, name := range d.names {
		if !slices.Contains(first, name) {
			b.Append(name, d.values[i])
		}
	}
	return b.Doc()
}

// boolOptions are stored as bools even if they were given as numbers.
var boolOptions = []string{"background", "unique", "sparse", "prepareUnique", "clustered"}

// trueOptions are not stored if they are false.
var trueOptions = []string{"hidden", "unique", "prepareUnique"}

// complete converts a checked specification to the form that the catalog
// stores: with uniform types, defaults and inherited options.
func complete(spec value.Doc, o ParseOptions) (value.Doc, error) {
	d := fieldsOf(spec)
	for _, name := range []string{"_id", "ns", "dropDups"} {
		d.remove(name)
	}
	d.set("v", value.Int32(version(spec)))
	for _, name := range boolOptions {
		if v := d.get(name); !v.IsMissing() {
			d.set(name, value.Bool(v.Truthy()))
		}
	}
	for _, name := range trueOptions {
		if !d.get(name).Truthy() {
			d.remove(name)
		}
	}
	if v := d.get("expireAfterSeconds"); !v.IsMissing() {
		d.set("expireAfterSeconds", value.Int32(int32(v.SafeInt64())))
	}
	if !o.Measurements && isIDKey(d.get("key").Doc()) && d.get("clustered").IsMissing() {
		d.set("name", value.String(reserved.IDIndex))
	}
	if err := completeCollation(d, o); err != nil {
		return nil, err
	}
	switch patternPlugin(d.get("key").Doc()) {
	case Text.String():
		if err := completeText(d); err != nil {
			return nil, err
		}
	case Sphere.String():
		if err := completeSphere(d); err != nil {
			return nil, err
		}
	}
	return d.doc(), nil
}

// completeCollation writes a collation out in full and moves it to the end,
// drops a simple one, or inherits that of the collection.
func completeCollation(d *specFields, o ParseOptions) error {
	v := d.get("collation")
	if v.IsMissing() {
		if o.Collation != nil && !isSimple(o.Collation) && d.get("v").Int32() >= 2 {
			d.set("collation", value.Document(o.Collation))
		}
		return nil
	}
	c, err := collation.Parse(v.Doc())
	if err != nil {
		return err
	}
	d.remove("collation")
	if c != nil {
		d.set("collation", value.Document(c.Doc()))
	}
	return nil
}

// sphereVersion is the version of new 2dsphere indexes.
const sphereVersion = 3

func completeSphere(d *specFields) error {
	v := d.get("2dsphereIndexVersion")
	if v.IsMissing() {
		d.set("2dsphereIndexVersion", value.Int32(sphereVersion))
		return checkLevels(d)
	}
	if n := v.SafeInt64(); n < 1 || n > sphereVersion {
		return cannotCreate("unsupported geo index version { 2dsphereIndexVersion : %d }, only support versions: [1,2,3]", n)
	}
	d.set("2dsphereIndexVersion", value.Int32(int32(v.SafeInt64())))
	return checkLevels(d)
}

// checkLevels checks the resolution of a 2dsphere index.
func checkLevels(d *specFields) error {
	c := levels(d.get("coarsestIndexedLevel"), d.get("finestIndexedLevel"))
	switch {
	case c.Coarsest < 0:
		return mongoerr.New(16747, "coarsestIndexedLevel must be >= 0")
	case c.Finest > 30:
		return mongoerr.New(16748, "finestIndexedLevel must be <= 30")
	case c.Finest < c.Coarsest:
		return mongoerr.New(16749, "finestIndexedLevel must be >= coarsestIndexedLevel")
	}
	return nil
}

// Load compiles a specification that Parse has completed, or an internal
// one.
func Load(full value.Doc) (*Spec, error) {
	s := &Spec{
		Name:    full.Lookup("name").Clone().Str(),
		Version: version(full),
		doc:     full.Clone(),
	}
	s.Key = s.doc.Lookup("key").Doc()
	if s.Key.IsEmpty() {
		return nil, mongoerr.New(mongoerr.FailedToParse, "The 'key' field is a required property of an index specification")
	}
	s.isID = isIDKey(s.Key)
	if order := s.option("internal").Str(); order != "" {
		return loadInternal(s, Order(order))
	}
	s.Fields, s.Kind = patternFields(s.Key)
	s.locate()
	s.IsUnique = s.option("unique").Truthy() || s.IsID()
	s.PrepareUnique = s.option("prepareUnique").Truthy()
	s.Sparse = s.option("sparse").Truthy()
	s.Hidden = s.option("hidden").Truthy()
	s.Clustered = s.option("clustered").Truthy()
	if v := s.option("expireAfterSeconds"); v.IsNumber() {
		n := v.SafeInt64()
		s.ExpireAfter = &n
	}
	var err error
	if s.Collation, err = compileCollation(s.doc); err != nil {
		return nil, err
	}
	if s.Collation != nil {
		s.collator = s.Collation
	}
	s.keepValues()
	if err := s.loadPartial(); err != nil {
		return nil, err
	}
	if err := s.loadSpecial(); err != nil {
		return nil, err
	}
	s.described = s.describe()
	return s, nil
}

// locate describes the fields to the planner, with places for arrays.
func (s *Spec) locate() {
	s.places = make([]plan.Field, len(s.Fields))
	for i, f := range s.Fields {
		s.places[i] = plan.Field{Path: f.Path, Desc: f.Desc, Kind: plan.Kind(f.Kind)}
	}
	plan.SetPlaces(s.places)
}

// keepValues decides whether keys have tails, so that values can be decoded
// from them.
func (s *Spec) keepValues() {
	if s.Kind != Plain || s.collator != nil {
		return
	}
	s.descending = make([]bool, len(s.Fields))
	for i := range s.Fields {
		s.descending[i] = s.Fields[i].Desc
	}
}

func (s *Spec) loadPartial() (err error) {
	v, ok := s.doc.Get("partialFilterExpression")
	if !ok {
		return nil
	}
	s.PartialFilter = v.Doc()
	s.Partial, err = compilePartial(s.PartialFilter, s.collator)
	return err
}

// loadSpecial compiles what the special kinds need.
func (s *Spec) loadSpecial() (err error) {
	switch s.Kind {
	case Wildcard:
		s.WildcardProjection = s.option("wildcardProjection").Doc()
		s.projection, err = parseProjection(s.WildcardProjection)
		if root := s.wildcardRoot(); root != "" && covers("_id", root) {
			s.projection.id = true
		}
	case Text:
		s.TextOptions = textOptions(s.doc)
		s.text, err = text.NewIndex(s.TextOptions.Weights, s.TextOptions.DefaultLanguage, s.TextOptions.LanguageOverride)
	case Geo2D:
		s.Planar = planarOptions(s.doc)
	}
	return err
}

func (s *Spec) wildcardRoot() string {
	for i := range s.Fields {
		if s.Fields[i].Kind == Wildcard {
			return s.Fields[i].Path
		}
	}
	return ""
}
