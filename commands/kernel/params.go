package kernel

import (
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// Parameter is one line of the table of server parameters, for setParameter and
// getParameter.
type Parameter struct {
	Name     string                                   // in getParameter and setParameter
	Initial  value.Value                              // whose type is that of start-up values given as text
	Startup  bool                                     // may be given on the command line
	Runtime  bool                                     // may be set while running
	Check    func(v value.Value) (value.Value, error) // refuses a value, or returns what is stored
	OnChange func(s *Service, v value.Value)          // called with what was stored; nil: nothing to do
	read     func(s *Service) value.Value             // nil: the value that was set
}

// Parameters holds the current values; reads take no lock.
type Parameters struct {
	Svc    *Service                                // whose parameters they are
	mu     sync.Mutex                              // writers
	Lines  map[string]*Parameter                   // the table, by name
	Values map[string]*atomic.Pointer[value.Value] // by name; a pointer is never nil
}

// Load applies start-up values, given as text.
func (p *Parameters) Load(given map[string]string) error {
	names := make([]string, 0, len(given))
	for name := range given {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		line := p.Lines[name]
		if line == nil {
			return mongoerr.Newf(mongoerr.BadValue, "Unknown --setParameter '%s'", name)
		}
		if !line.Startup {
			return mongoerr.Newf(mongoerr.BadValue, "Cannot use --setParameter to set '%s' at startup", name)
		}
		v := parseParameter(line.Initial.Kind(), given[name])
		if line.Initial.Kind() == value.KindBool && v.Kind() == value.KindString {
			return mongoerr.Newf(mongoerr.BadValue, "Bad value for parameter \"%s\": \"%s\" is no bool", name, given[name])
		}
		if err := p.Set(line, v); err != nil {
			return err
		}
	}
	return nil
}

// parseParameter reads text as the type of the parameter.
func parseParameter(kind value.Kind, text string) value.Value {
	switch kind {
	case value.KindBool:
		if b, err := strconv.ParseBool(text); err == nil {
			return value.Bool(b)
		}
	case value.KindInt32, value.KindInt64, value.KindDouble:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return value.Int(n)
		}
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return value.Double(f)
		}
	case value.KindDocument:
		if d, err := value.ParseJSON(bareName.ReplaceAllString(text, `$1"$2":`)); err == nil {
			return value.Document(d)
		}
	}
	return value.String(text)
}

// bareName is a key without quotes, as people write them on the command line.
var bareName = regexp.MustCompile(`([{,]\s*)([A-Za-z]\w*)\s*:`)

// Set checks and stores a value. The caller holds no lock.
func (p *Parameters) Set(line *Parameter, v value.Value) error {
	checked, err := line.Check(v)
	if err != nil {
		return err
	}
	checked = checked.Clone()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Values[line.Name].Store(&checked)
	if line.OnChange != nil {
		line.OnChange(p.Svc, checked)
	}
	return nil
}

// Value returns the current value of a parameter of the table.
func (p *Parameters) Value(name string) value.Value {
	if read := p.Lines[name].read; read != nil {
		return read(p.Svc)
	}
	return *p.Values[name].Load()
}

// Int returns the value of a parameter that is a number.
func (p *Parameters) Int(name string) int64 { return p.Value(name).SafeInt64() }

// Bool returns the value of a parameter that is a boolean.
func (p *Parameters) Bool(name string) bool { return p.Value(name).Truthy() }

// Checks of parameter values.

// CheckBool takes a value of any type for a bool, as mongod does.
func CheckBool(v value.Value) (value.Value, error) { return value.Bool(v.Truthy()), nil }

// CheckNoDiagnosticData accepts only false: configurations for small machines switch the
// collection of diagnostic data off, and this server has none.
func CheckNoDiagnosticData(v value.Value) (value.Value, error) {
	v, err := CheckBool(v)
	if err == nil && v.Bool() {
		err = mongoerr.New(mongoerr.BadValue, "Invalid value for parameter diagnosticDataCollectionEnabled: no diagnostic data is collected")
	}
	return v, err
}

// CheckInt returns the check of a parameter that is a number between least and most; it
// is truncated to an integer.
func CheckInt(name string, least, most int64) func(value.Value) (value.Value, error) {
	return func(v value.Value) (value.Value, error) {
		if !v.IsNumber() {
			return v, mongoerr.Newf(mongoerr.BadValue, "Invalid value for parameter %s: %s is not a number", name, v)
		}
		n := v.SafeInt64()
		switch {
		case v.IsNaN() || n < least:
			return v, mongoerr.Newf(mongoerr.BadValue, "Invalid value for parameter %s: %d is not greater than or equal to %d", name, n, least)
		case n > most:
			return v, mongoerr.Newf(mongoerr.BadValue, "Invalid value for parameter %s: %d is not less than or equal to %d", name, n, most)
		}
		return value.Int(n), nil
	}
}

// CheckString returns the check of a parameter that is a string, and one of the allowed
// if any are given.
func CheckString(name string, allowed ...string) func(value.Value) (value.Value, error) {
	return func(v value.Value) (value.Value, error) {
		if v.Kind() != value.KindString {
			return v, mongoerr.Newf(mongoerr.TypeMismatch, "Expected type string for parameter '%s', got %s", name, v.Kind())
		}
		for _, a := range allowed {
			if a == v.Str() {
				return v, nil
			}
		}
		if len(allowed) > 0 {
			return v, mongoerr.Newf(mongoerr.BadValue, "Invalid value for parameter %s: '%s' is not one of %s", name, v.Str(), strings.Join(allowed, ", "))
		}
		return v, nil
	}
}
