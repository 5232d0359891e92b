package timeseries

import (
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// Options are the timeseries options of a collection. They are immutable.
type Options struct {
	TimeField   string
	MetaField   string // "" if not set
	Granularity string // "" if span and rounding are custom
	MaxSpan     int64  // seconds that a bucket spans at most
	Rounding    int64  // seconds that the minimum of a bucket is rounded to
}

// granularities in their order, with their spans.
var granularities = []struct {
	name              string
	maxSpan, rounding int64
}{
	{"seconds", 3600, 60},
	{"minutes", 86400, 3600},
	{"hours", 2592000, 86400},
}

// maxSeconds bounds span and rounding: 365 days.
const maxSeconds = 365 * 86400

// granularity returns the index of a granularity, or -1.
func granularity(name string) int {
	for i := range granularities {
		if granularities[i].name == name {
			return i
		}
	}
	return -1
}

func (o *Options) setGranularity(i int) {
	g := granularities[i]
	o.Granularity, o.MaxSpan, o.Rounding = g.name, g.maxSpan, g.rounding
}

// given is the content of a timeseries option.
type given struct {
	timeField, metaField, granularity string
	span, rounding                    int64 // 0: not given
}

// ParseOptions reads the timeseries option of create.
func ParseOptions(v value.Value) (*Options, error) {
	const prefix = "create.timeseries"
	g, err := readOptions(prefix, v, true)
	if err != nil {
		return nil, err
	}
	if g.timeField == "" && v.Doc().Lookup("timeField").Kind() != value.KindString {
		return nil, mongoerr.MissingField(prefix + ".timeField")
	}
	if err := g.checkFields(); err != nil {
		return nil, err
	}
	o := &Options{TimeField: g.timeField, MetaField: g.metaField}
	return o, g.applySpan(o)
}

// optionFields are those that create and collMod have in common.
var optionFields = map[string]bool{"granularity": true, "bucketMaxSpanSeconds": true, "bucketRoundingSeconds": true}

// readOptions checks names and types. The field names are allowed only in
// create.
func readOptions(prefix string, v value.Value, fields bool) (g given, err error) {
	if v.Kind() != value.KindDocument {
		return g, mongoerr.Newf(mongoerr.TypeMismatch, "BSON field '%s' is the wrong type '%s', expected type 'object'", prefix, v.Kind())
	}
	for name, v := range v.Doc().All() {
		null := v.Kind() == value.KindNull || v.Kind() == value.KindUndefined // counts as missing
		switch {
		case null && (optionFields[name] || fields && (name == "timeField" || name == "metaField")):
		case name == "timeField" && fields:
			err = readString(prefix, name, v, &g.timeField)
		case name == "metaField" && fields:
			err = readString(prefix, name, v, &g.metaField)
		case name == "granularity":
			if err = readString(prefix, name, v, &g.granularity); err == nil && granularity(g.granularity) < 0 {
				err = mongoerr.Newf(mongoerr.BadValue, "Enumeration value '%s' for field '%s.granularity' is not a valid value.", g.granularity, prefix)
			}
		case name == "bucketMaxSpanSeconds":
			err = readSeconds(prefix, name, v, &g.span)
		case name == "bucketRoundingSeconds":
			err = readSeconds(prefix, name, v, &g.rounding)
		default:
			err = mongoerr.UnknownField(prefix + "." + name)
		}
		if err != nil {
			return g, err
		}
	}
	return g, nil
}

func readString(prefix, name string, v value.Value, dst *string) error {
	if v.Kind() != value.KindString {
		return mongoerr.Newf(mongoerr.TypeMismatch, "BSON field '%s.%s' is the wrong type '%s', expected type 'string'", prefix, name, v.Kind())
	}
	*dst = strings.Clone(v.Str())
	return nil
}

func readSeconds(prefix, name string, v value.Value, dst *int64) error {
	if !v.IsNumber() {
		return mongoerr.Newf(mongoerr.TypeMismatch, "BSON field '%s.%s' is the wrong type '%s', expected types '[long, int, decimal, double]'", prefix, name, v.Kind())
	}
	*dst = v.SafeInt64()
	switch {
	case *dst < 1:
		return mongoerr.Newf(mongoerr.BadValue, "BSON field '%s' value must be >= 1, actual value '%d'", name, *dst)
	case *dst > maxSeconds:
		return mongoerr.Newf(mongoerr.BadValue, "BSON field '%s' value must be <= %d, actual value '%d'", name, maxSeconds, *dst)
	}
	return nil
}

func invalid(format string, args ...any) error {
	return mongoerr.Newf(mongoerr.InvalidOptions, format, args...)
}

// checkFields checks the names of the time and meta fields.
func (g *given) checkFields() error {
	for _, f := range [][2]string{{"timeField", g.timeField}, {"metaField", g.metaField}} {
		if strings.IndexByte(f[1], 0) >= 0 {
			return mongoerr.Newf(mongoerr.BadValue, "'%s' cannot contain a null byte", f[0])
		}
		if strings.IndexByte(f[1], '.') >= 0 {
			return invalid("'%s' must be a top-level field and not contain a '.'", f[0])
		}
	}
	switch {
	case g.metaField == "_id":
		return invalid("'metaField' cannot be \"_id\"")
	case g.metaField != "" && g.metaField == g.timeField:
		return invalid("'metaField' and 'timeField' cannot be the same field")
	}
	return nil
}

// applySpan sets granularity, span and rounding from what is given.
func (g *given) applySpan(o *Options) error {
	if g.granularity == "" {
		if g.span != g.rounding {
			return invalid("Time-series 'bucketRoundingSeconds' must be equal to 'bucketMaxSpanSeconds'")
		}
		if g.span == 0 {
			o.setGranularity(0)
			return nil
		}
		o.Granularity, o.MaxSpan, o.Rounding = "", g.span, g.rounding
		return nil
	}
	i := granularity(g.granularity)
	if want := granularities[i].maxSpan; g.span != 0 && g.span != want {
		return invalid("Timeseries 'bucketMaxSpanSeconds' cannot be set to a value other than the default of %d for the provided granularity", want)
	}
	if g.rounding != 0 {
		return invalid("Time-series 'bucketRoundingSeconds' cannot be set alongside the granularity parameter")
	}
	o.setGranularity(i)
	return nil
}

// Doc returns the option as listCollections shows it and the catalog stores
// it.
func (o *Options) Doc() value.Doc {
	b := value.NewBuilder().String("timeField", o.TimeField)
	if o.MetaField != "" {
		b.String("metaField", o.MetaField)
	}
	if o.Granularity != "" {
		b.String("granularity", o.Granularity)
	}
	b.Int32("bucketMaxSpanSeconds", int32(o.MaxSpan))
	if o.Granularity == "" {
		b.Int32("bucketRoundingSeconds", int32(o.Rounding))
	}
	return b.Doc()
}

// LoadOptions reads the result of Doc; nil if there are no options.
func LoadOptions(v value.Value) *Options {
	if v.Kind() != value.KindDocument {
		return nil
	}
	d := v.Doc().Clone()
	o := &Options{TimeField: d.Lookup("timeField").Str(), MetaField: d.Lookup("metaField").Str()}
	if i := granularity(d.Lookup("granularity").Str()); i >= 0 {
		o.setGranularity(i)
		return o
	}
	o.MaxSpan, o.Rounding = max(d.Lookup("bucketMaxSpanSeconds").SafeInt64(), 1), max(d.Lookup("bucketRoundingSeconds").SafeInt64(), 1)
	return o
}

// CollMod reads the timeseries option of collMod and returns the changed
// options; the same ones if nothing changes.
func (o *Options) CollMod(v value.Value) (*Options, error) {
	g, err := readOptions("collMod.timeseries", v, false)
	if err != nil {
		return nil, err
	}
	if g == (given{}) {
		return o, nil
	}
	if g.granularity == "" && (g.span == 0 || g.rounding == 0) {
		return nil, invalid("Timeseries 'bucketMaxSpanSeconds' and 'bucketRoundingSeconds' need to be set alongside each other")
	}
	n := *o
	if err := g.applySpan(&n); err != nil {
		return nil, err
	}
	if n == *o {
		return o, nil
	}
	from, to := granularity(o.Granularity), granularity(n.Granularity)
	switch {
	case from >= 0 && to >= 0 && to < from:
		return nil, invalid("Invalid transition for timeseries.granularity. Can only transition from 'seconds' to 'minutes' or 'minutes' to 'hours'.")
	case n.MaxSpan < o.MaxSpan:
		return nil, invalid("Timeseries 'bucketMaxSpanSeconds' can only be increased: it is %d", o.MaxSpan)
	case n.Rounding < o.Rounding:
		return nil, invalid("Timeseries 'bucketRoundingSeconds' can only be increased: it is %d", o.Rounding)
	}
	return &n, nil
}

// ViewPipeline is the pipeline of the view that a time series is in mongod.
func (o *Options) ViewPipeline() value.Doc {
	b := value.NewBuilder().String("timeField", o.TimeField)
	if o.MetaField != "" {
		b.String("metaField", o.MetaField)
	}
	unpack := b.Int32("bucketMaxSpanSeconds", int32(o.MaxSpan)).Doc()
	return value.NewArray(value.Document(value.NewDoc("$_internalUnpackBucket", value.Document(unpack)))).Doc()
}

// excluded are the options of create that cannot be combined with timeseries.
var excluded = []string{
	"capped", "autoIndexId", "idIndex", "validator", "validationLevel", "validationAction",
	"viewOn", "pipeline", "clusteredIndex", "documentTtl", "messageQueue", "messageTopic", "messageSubscription",
}

// CheckCreate refuses options of create that cannot be combined with
// timeseries.
func CheckCreate(options value.Doc) error {
	for _, name := range excluded {
		v, ok := options.Get(name)
		if !ok || v.Kind() == value.KindNull || name == "capped" && !v.Truthy() {
			continue
		}
		return invalid("'timeseries' is not allowed with '%s'", name)
	}
	return nil
}

// Minimum returns the minimum, in seconds, of a new bucket for an instant in
// milliseconds.
func (o *Options) Minimum(ms int64) int64 {
	s := floorDiv(ms, 1000)
	return floorDiv(s, o.Rounding) * o.Rounding
}

// covers reports whether a measurement may be in a bucket of that minimum,
// both in milliseconds.
func (o *Options) covers(minimum, ms int64) bool {
	return minimum <= ms && ms-minimum < o.MaxSpan*1000
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
