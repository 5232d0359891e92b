package ttl

import (
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// ParseDocumentPolicy reads the documentTtl option of create; nil if its default is null,
// which is the same as no option.
func ParseDocumentPolicy(v value.Value) (*DocumentPolicy, error) {
	return parseDocument("create", v, nil)
}

// Modify reads the documentTtl option of collMod: a document with the fields
// to change, or "off". The result is the new policy, nil for off. The receiver
// may be nil: then the policy is switched on.
func (p *DocumentPolicy) Modify(v value.Value) (*DocumentPolicy, error) {
	if v.Kind() == value.KindString {
		if v.Str() != "off" {
			return nil, mongoerr.Newf(mongoerr.InvalidOptions, "Invalid string value for the 'documentTtl' option. Got: '%s'. Accepted value is 'off'", v.Str())
		}
		return nil, nil
	}
	return parseDocument("collMod", v, p)
}

// parseDocument reads the option of a command; fields that it does not mention
// keep their value in old.
func parseDocument(command string, v value.Value, old *DocumentPolicy) (*DocumentPolicy, error) {
	prefix := command + ".documentTtl"
	if v.Kind() != value.KindDocument {
		return nil, wrongType(prefix, v, "object")
	}
	p := DocumentPolicy{Invalid: Reject}
	if old != nil {
		p = *old
	}
	hasDefault, off := old != nil, false
	for name, v := range v.Doc().All() {
		switch name {
		case "default":
			hasDefault, off = true, v.Kind() == value.KindNull
			if off {
				continue
			}
			if err := p.setDefault(prefix, v); err != nil {
				return nil, err
			}
		case "invalid":
			if err := p.setInvalid(prefix, v); err != nil {
				return nil, err
			}
		case "exposeTs":
			if v.Kind() != value.KindBool && !v.IsNumber() {
				return nil, wrongType(prefix+".exposeTs", v, "bool")
			}
			p.ExposeTS = v.Truthy()
		default:
			return nil, unknownField(prefix, name)
		}
	}
	switch {
	case off:
		return nil, nil
	case !hasDefault:
		return nil, mongoerr.MissingField(prefix + ".default")
	}
	return &p, nil
}

func (p *DocumentPolicy) setDefault(prefix string, v value.Value) error {
	if !v.IsNumber() {
		return wrongType(prefix+".default", v, "number")
	}
	n, exact := v.AsInt64()
	if !exact || !validDefault(n) {
		return mongoerr.Newf(mongoerr.BadValue, "The default time to live '%s' is invalid", v)
	}
	p.Default = n
	return nil
}

func (p *DocumentPolicy) setInvalid(prefix string, v value.Value) error {
	if v.Kind() != value.KindString {
		return wrongType(prefix+".invalid", v, "string")
	}
	switch m := Mode(v.Str()); m {
	case Reject, RejectNull, Ignore:
		p.Invalid = m
		return nil
	}
	return mongoerr.Newf(mongoerr.BadValue, "Enumeration value '%s' for field '%s.invalid' is not a valid value.", v.Str(), prefix)
}

func wrongType(field string, v value.Value, want string) error {
	return mongoerr.Newf(mongoerr.TypeMismatch, "BSON field '%s' is the wrong type '%s', expected type '%s'", field, v.Kind(), want)
}

func unknownField(prefix, name string) error {
	return mongoerr.UnknownField(prefix + "." + name)
}

// IndexingMode is indexingPolicy.indexingMode of a collection.
type IndexingMode string

// The modes. The articles also write them with a capital. Lazy indexing is accepted and
// done at once.
const (
	Consistent IndexingMode = "consistent"
	Lazy       IndexingMode = "lazy"
	NoIndexing IndexingMode = "none"
)

// ParseIndexingPolicy reads the indexingPolicy option of create and collMod;
// command is the command's name.
func ParseIndexingPolicy(command string, v value.Value) (IndexingMode, error) {
	prefix := command + ".indexingPolicy"
	if v.Kind() != value.KindDocument {
		return "", wrongType(prefix, v, "object")
	}
	mode := Consistent
	for name, v := range v.Doc().All() {
		if name != "indexingMode" {
			return "", unknownField(prefix, name)
		}
		if v.Kind() != value.KindString {
			return "", wrongType(prefix+".indexingMode", v, "string")
		}
		mode = IndexingMode(v.Str())
		if named := IndexingMode(strings.ToLower(v.Str())); named == Consistent || named == Lazy || named == NoIndexing {
			mode = named
		}
	}
	switch mode {
	case Consistent, Lazy, NoIndexing:
		return mode, nil
	}
	return "", mongoerr.Newf(mongoerr.BadValue, "Enumeration value '%s' for field '%s.indexingMode' is not a valid value.", string(mode), prefix)
}

// Doc is the option as listCollections shows it; nil for the default mode,
// which is not shown.
func (m IndexingMode) Doc() value.Doc {
	if m == "" || m == Consistent {
		return nil
	}
	return value.NewDoc("indexingMode", value.String(string(m)))
}

// LoadIndexingMode reads the mode from the options of the catalog.
func LoadIndexingMode(options value.Doc) IndexingMode {
	if m := options.Lookup("indexingPolicy").Doc().Lookup("indexingMode"); m.Kind() == value.KindString {
		return IndexingMode(m.Str())
	}
	return Consistent
}

// CheckIndexing refuses document TTL on a collection without indexes.
func CheckIndexing(p *DocumentPolicy, m IndexingMode) error {
	if p != nil && m == NoIndexing {
		return mongoerr.New(mongoerr.InvalidOptions, "TTL requires indexing: documentTtl cannot be combined with the indexing mode 'none'")
	}
	return nil
}

// CheckCreateIndex refuses a secondary index where indexing is switched off.
func (m IndexingMode) CheckCreateIndex() error {
	if m == NoIndexing {
		return mongoerr.New(mongoerr.CannotCreateIndex, "secondary indexes cannot be created with the indexing mode 'none'")
	}
	return nil
}
