package collation

import (
	"slices"
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// Version is the version of the collation rules that Doc reports: that of
// the ICU library in MongoDB 8.0.
const Version = "57.1"

// Parse reads the collation document of a command. It returns nil for the
// simple binary comparison: an empty document or {locale: "simple"}.
func Parse(spec value.Doc) (*Collation, error) {
	if spec.IsEmpty() {
		return nil, nil
	}
	c := &Collation{strength: 3, caseFirst: "off", alternate: "non-ignorable", maxVariable: "punct"}
	for name := range spec.All() {
		if fields[name] == nil {
			return nil, mongoerr.UnknownField("collation." + name)
		}
	}
	locale, err := readLocale(spec)
	if err != nil {
		return nil, err
	}
	c.locale = locale
	if set := localeDefaults[locale]; set != nil {
		set(c)
	}
	for name, v := range spec.All() {
		if v.Kind() == value.KindNull && name != "backwards" { // counts as missing
			continue
		}
		if err := fields[name](c, name, v); err != nil {
			return nil, err
		}
	}
	if locale == "simple" {
		return nil, nil
	}
	if err := c.validate(spec); err != nil {
		return nil, err
	}
	if err := c.open(spec); err != nil {
		return nil, err
	}
	return c, nil
}

// fields maps the names of options to the functions that read them.
var fields = map[string]func(c *Collation, name string, v value.Value) error{
	"locale":          func(*Collation, string, value.Value) error { return nil },
	"caseLevel":       readBool(func(c *Collation) *bool { return &c.caseLevel }),
	"caseFirst":       readEnum(func(c *Collation) *string { return &c.caseFirst }, "upper", "lower", "off"),
	"strength":        readStrength,
	"numericOrdering": readBool(func(c *Collation) *bool { return &c.numericOrdering }),
	"alternate":       readEnum(func(c *Collation) *string { return &c.alternate }, "non-ignorable", "shifted"),
	"maxVariable":     readEnum(func(c *Collation) *string { return &c.maxVariable }, "punct", "space"),
	"normalization":   readBool(func(c *Collation) *bool { return &c.normalization }),
	"backwards":       readBool(func(c *Collation) *bool { return &c.backwards }),
	"version":         readVersion,
}

func wrongType(name string, v value.Value, expected string) error {
	return mongoerr.Newf(mongoerr.TypeMismatch,
		"BSON field 'collation.%s' is the wrong type '%s', expected %s", name, v.Kind(), expected)
}

func readLocale(spec value.Doc) (string, error) {
	v := spec.Lookup("locale")
	switch {
	case v.IsMissing(), v.Kind() == value.KindNull:
		return "", mongoerr.MissingField("collation.locale")
	case v.Kind() != value.KindString:
		return "", wrongType("locale", v, "type 'string'")
	case strings.IndexByte(v.Str(), 0) >= 0:
		return "", mongoerr.Newf(mongoerr.BadValue, "Field 'locale' cannot contain null byte. Collation spec: %v", spec)
	case v.Str() == "":
		return "", mongoerr.Newf(mongoerr.BadValue, "Field 'locale' cannot be the empty string in: %v", spec)
	}
	return strings.Clone(v.Str()), nil
}

func readBool(field func(*Collation) *bool) func(*Collation, string, value.Value) error {
	return func(c *Collation, name string, v value.Value) error {
		switch {
		case v.Kind() == value.KindBool:
			*field(c) = v.Bool()
		case name == "backwards":
			return mongoerr.Newf(mongoerr.TypeMismatch, "Field 'backwards' should be a boolean value, but found: %s", v.Kind())
		default:
			return wrongType(name, v, "type 'bool'")
		}
		return nil
	}
}

func readEnum(field func(*Collation) *string, allowed ...string) func(*Collation, string, value.Value) error {
	return func(c *Collation, name string, v value.Value) error {
		if v.Kind() != value.KindString {
			return wrongType(name, v, "type 'string'")
		}
		i := slices.Index(allowed, v.Str())
		if i < 0 {
			return mongoerr.Newf(mongoerr.BadValue,
				"Enumeration value '%s' for field 'collation.%s' is not a valid value.", v.Str(), name)
		}
		*field(c) = allowed[i]
		return nil
	}
}

// readStrength reads a strength from 1 to 5.
func readStrength(c *Collation, name string, v value.Value) error {
	if !v.IsNumber() {
		return wrongType(name, v, "types '[long, int, decimal, double]'")
	}
	switch n := v.SafeInt64(); {
	case n < 0:
		return mongoerr.Newf(mongoerr.BadValue, "BSON field 'strength' value must be >= 0, actual value '%d'", n)
	case n == 0:
		return mongoerr.New(mongoerr.BadValue, "Enumeration value '0' for field 'collation.strength' is not a valid value.")
	case n > 5:
		return mongoerr.Newf(mongoerr.BadValue, "BSON field 'strength' value must be <= 5, actual value '%d'", n)
	default:
		c.strength = int(n)
	}
	return nil
}

func readVersion(_ *Collation, name string, v value.Value) error {
	if v.Kind() != value.KindString {
		return wrongType(name, v, "type 'string'")
	}
	if v.Str() != Version {
		return mongoerr.Newf(mongoerr.IncompatibleCollationVersion,
			"Requested collation version %s but the only available collator version was %s", v.Str(), Version)
	}
	return nil
}

// validate refuses invalid combinations and unknown locales.
func (c *Collation) validate(spec value.Doc) error {
	if _, known, _ := lookupLocale(c.locale); !known {
		message := "Field 'locale' is invalid in: " + spec.String()
		if s := suggestion(c.locale); s != "" {
			message += ". Did you mean '" + s + "'?"
		}
		return mongoerr.New(mongoerr.BadValue, message)
	}
	if c.backwards && c.strength == 1 {
		return mongoerr.Newf(mongoerr.BadValue, "'backwards' is invalid with 'strength' of 1 in: %v", spec)
	}
	if c.caseFirst != "off" && !c.caseLevel && c.strength < 3 {
		return mongoerr.Newf(mongoerr.BadValue,
			"'caseFirst' is invalid unless 'caseLevel' is on or 'strength' is greater than 2 in: %v", spec)
	}
	return nil
}
