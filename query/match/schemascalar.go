package match

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cockroachdb/apd/v3"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// typeRule is bsonType or type.
type typeRule struct {
	named
	types TypeSet
}

func (r *typeRule) holds(_ *expr.Env, v value.Value) (bool, error) {
	return r.types.Has(v.Kind()), nil
}

func (r *typeRule) explain(_ *expr.Env, b *value.Builder, v value.Value) {
	r.specified(b, "type did not match")
	quote(b, "consideredValue", v).String("consideredType", v.Kind().String())
}

// jsonTypes are the names that the keyword type knows.
var jsonTypes = map[string]value.Kind{
	"array": value.KindArray, "boolean": value.KindBool, "null": value.KindNull,
	"object": value.KindDocument, "string": value.KindString,
}

// parseSchemaType parses type (JSON names) or bsonType (BSON aliases), which
// exclude each other.
func parseSchemaType(s *schema, k keyword, whole value.Doc) error {
	if whole.Has("type") && whole.Has("bsonType") {
		return mongoerr.New(mongoerr.FailedToParse, "Cannot specify both $jsonSchema keywords 'type' and 'bsonType'")
	}
	names := value.NewArray(k.v).Doc()
	if k.v.Kind() == value.KindArray {
		names = k.v.Doc()
	}
	r := &typeRule{named: named{k}}
	var seen []string
	for v := range names.Values() {
		if v.Kind() != value.KindString {
			return k.mustBe("either a string or an array of strings")
		}
		if slices.Contains(seen, v.Str()) {
			return k.fails(mongoerr.FailedToParse, "has duplicate value: "+v.Str())
		}
		seen = append(seen, v.Str())
		if err := r.addName(k.name, v); err != nil {
			return err
		}
	}
	if len(seen) == 0 {
		return k.fails(mongoerr.FailedToParse, "must name at least one type")
	}
	s.rules = append(s.rules, r)
	return nil
}

// addName adds a type by a name of the keyword.
func (r *typeRule) addName(keyword string, v value.Value) error {
	if v.Str() == "integer" {
		return mongoerr.New(mongoerr.FailedToParse, "$jsonSchema type 'integer' is not currently supported.")
	}
	if keyword == "bsonType" {
		return r.types.add(v)
	}
	kind, ok := jsonTypes[v.Str()]
	switch {
	case v.Str() == "number":
		r.types.Number = true
	case ok:
		r.types.Kinds = append(r.types.Kinds, kind)
	default:
		return mongoerr.Newf(mongoerr.BadValue, "Unknown type name alias: %s", v.Str())
	}
	return nil
}

// limitRule is maximum or minimum.
type limitRule struct {
	named
	compare Compare
}

func (r *limitRule) holds(_ *expr.Env, v value.Value) (bool, error) {
	return !v.IsNumber() || r.compare.holds(v), nil
}

func (r *limitRule) explain(_ *expr.Env, b *value.Builder, v value.Value) {
	b.StartDocument("specifiedAs").Append(r.k.name, r.k.v)
	if r.compare.Op == OpLt || r.compare.Op == OpGt {
		b.Bool("exclusive"+strings.ToUpper(r.k.name[:1])+r.k.name[1:], true)
	}
	quote(b.End().String("reason", "comparison failed"), "consideredValue", v)
}

// parseLimit parses maximum or minimum, with exclusiveMaximum or
// exclusiveMinimum beside it.
func parseLimit(s *schema, k keyword, whole value.Doc) error {
	if !k.v.IsNumber() {
		return k.mustBe("a number")
	}
	exclusive := whole.Lookup("exclusive" + strings.ToUpper(k.name[:1]) + k.name[1:])
	op := OpLte
	if k.name == "minimum" {
		op = OpGte
	}
	if exclusive.Bool() {
		op-- // $lte to $lt, $gte to $gt
	}
	s.rules = append(s.rules, &limitRule{named{k}, Compare{Op: op, Value: k.v}})
	return nil
}

func parseExclusive(of string) schemaParser {
	return func(_ *schema, k keyword, whole value.Doc) error {
		if _, err := k.bool(); err != nil {
			return err
		}
		if !whole.Has(of) {
			return mongoerr.Newf(mongoerr.FailedToParse, "$jsonSchema keyword '%s' must be a present if %s is present", of, k.name)
		}
		return nil
	}
}

// countRule limits the length of a string, an array or an object.
type countRule struct {
	named
	limit int64
}

func (r *countRule) holds(_ *expr.Env, v value.Value) (bool, error) {
	n := r.count(v)
	if n < 0 {
		return true, nil
	}
	if strings.HasPrefix(r.k.name, "min") {
		return n >= r.limit, nil
	}
	return n <= r.limit, nil
}

// count returns the length of v, -1 if the rule does not apply to its type.
func (r *countRule) count(v value.Value) int64 {
	switch what := r.k.name[3:]; {
	case what == "Length" && v.Kind() == value.KindString:
		return int64(utf8.RuneCountInString(v.Str()))
	case what == "Items" && v.Kind() == value.KindArray,
		what == "Properties" && v.Kind() == value.KindDocument:
		return int64(v.Doc().Len())
	}
	return -1
}

func (r *countRule) explain(_ *expr.Env, b *value.Builder, v value.Value) {
	switch r.k.name[3:] {
	case "Length":
		r.specified(b, "specified string length was not satisfied")
		quote(b, "consideredValue", v)
	case "Items":
		r.specified(b, "array did not match specified length")
		quote(b, "consideredValue", v)
	default:
		r.specified(b, "specified number of properties was not satisfied")
		b.Int32("numberOfProperties", int32(r.count(v)))
	}
}

func parseCount(s *schema, k keyword, _ value.Doc) error {
	n, err := natural(element(k))
	if err != nil {
		return err
	}
	s.rules = append(s.rules, &countRule{named{k}, n})
	return nil
}

// patternRule is pattern.
type patternRule struct {
	named
	find finder
}

func (r *patternRule) holds(env *expr.Env, v value.Value) (bool, error) {
	if v.Kind() != value.KindString {
		return true, nil
	}
	return r.find(env, v.Str())
}

func (r *patternRule) explain(_ *expr.Env, b *value.Builder, v value.Value) {
	r.specified(b, "regular expression did not match")
	quote(b, "consideredValue", v)
}

func parsePattern(s *schema, k keyword, _ value.Doc) error {
	if k.v.Kind() != value.KindString {
		return k.mustBe("a string")
	}
	re, err := newRegex(value.ParsePath(""), k.v.Str(), "")
	if err != nil {
		return err
	}
	s.rules = append(s.rules, &patternRule{named{k}, re.find})
	return nil
}

// multipleRule is multipleOf.
type multipleRule struct{ named }

// holds reports whether a number is a multiple, computed in decimals unless
// both numbers are integers.
func (r *multipleRule) holds(_ *expr.Env, v value.Value) (bool, error) {
	if !v.IsNumber() {
		return true, nil
	}
	a, aInt := v.AsInt64()
	d, dInt := r.k.v.AsInt64()
	if aInt && dInt {
		return a%d == 0, nil
	}
	if f := v.AsDouble(); math.IsNaN(f) || math.IsInf(f, 0) {
		return false, nil
	}
	var rest apd.Decimal
	_, err := value.DecimalContext.Rem(&rest, v.AsDecimal().Apd(), r.k.v.AsDecimal().Apd())
	return err == nil && rest.IsZero(), nil
}

func (r *multipleRule) explain(_ *expr.Env, b *value.Builder, v value.Value) {
	r.specified(b, "considered value is not a multiple of the specified value")
	quote(b, "consideredValue", v)
}

func parseMultipleOf(s *schema, k keyword, _ value.Doc) error {
	if !k.v.IsNumber() {
		return k.mustBe("a number")
	}
	f := k.v.AsDouble()
	if !(f > 0) || math.IsInf(f, 0) {
		return k.fails(mongoerr.FailedToParse, "must have a positive value")
	}
	s.rules = append(s.rules, &multipleRule{named{k}})
	return nil
}

// enumRule is enum. Documents equal each other in any order of their fields.
type enumRule struct {
	named
	options unorderedSet
}

func (r *enumRule) holds(_ *expr.Env, v value.Value) (bool, error) { return r.options.has(v), nil }

func (r *enumRule) explain(_ *expr.Env, b *value.Builder, v value.Value) {
	r.specified(b, "value was not found in enum")
	quote(b, "consideredValue", v)
}

// parseEnum parses enum: a non-empty array of distinct values.
func parseEnum(s *schema, k keyword, _ value.Doc) error {
	list, err := k.array()
	if err != nil {
		return err
	}
	if list.IsEmpty() {
		return k.fails(mongoerr.FailedToParse, "cannot be an empty array")
	}
	r := &enumRule{named: named{k}}
	options, twice, _ := newUnorderedSet(list, func(value.Value) error { return nil })
	if !twice.IsMissing() {
		return k.fails(mongoerr.FailedToParse, "array cannot contain duplicate values.")
	}
	r.options = options
	s.rules = append(s.rules, r)
	return nil
}

// encryptRule is encrypt: binary data of the subtype for encrypted values,
// which contains the type of the encrypted value.
type encryptRule struct {
	named
	types TypeSet // empty: any
}

func (r *encryptRule) holds(_ *expr.Env, v value.Value) (bool, error) {
	subtype, data := v.Binary()
	if v.Kind() != value.KindBinary || subtype != 6 {
		return false, nil
	}
	if !r.types.Number && len(r.types.Kinds) == 0 {
		return true, nil
	}
	// One byte for the kind of encryption, a UUID, the type.
	return len(data) > 17 && r.types.Has(value.Kind(data[17])), nil
}

func (r *encryptRule) explain(_ *expr.Env, b *value.Builder, v value.Value) {
	b.String("reason", "value was not encrypted")
}

// parseEncrypt parses encrypt: the type of the encrypted value, and metadata
// for clients.
func parseEncrypt(s *schema, k keyword, _ value.Doc) error {
	d, err := k.object()
	if err != nil {
		return err
	}
	r := &encryptRule{named: named{k}}
	for name, v := range d.All() {
		switch name {
		case "bsonType":
			if r.types, err = parseTypeSet(v); err != nil {
				return err
			}
		case "algorithm", "keyId":
		default:
			return mongoerr.UnknownField("encrypt." + name)
		}
	}
	s.rules = append(s.rules, r)
	return nil
}

// parseEncryptMetadata validates defaults for clients that encrypt; they put
// no condition on values.
func parseEncryptMetadata(_ *schema, k keyword, _ value.Doc) error {
	d, err := k.object()
	if err == nil && d.IsEmpty() {
		err = k.fails(mongoerr.BadValue, "cannot be an empty object")
	}
	return err
}
