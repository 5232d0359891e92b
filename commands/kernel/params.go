package kernel

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/duskdb/duskdb/internal/editdistance"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/internal/relaxed"
	"github.com/duskdb/duskdb/value"
)

// Parameter is one line of the table of server parameters, for setParameter and
// getParameter.
type Parameter struct {
	Name     string                                   // the name for getParameter and setParameter
	Initial  value.Value                              // the value at start; start-up values given as text have its type
	Startup  bool                                     // may be given on the command line
	Runtime  bool                                     // may be set while running
	Check    func(v value.Value) (value.Value, error) // refuses a value, or returns what is stored
	OnChange func(s *Service, v value.Value)          // called with what was stored; nil: nothing to do
	read     func(s *Service) value.Value             // nil: the value that was set
	NoEffect string                                   // reason why it has no effect; "": it has one
	Former   string                                   // another name, which mongod no longer recommends; "": none
	TestOnly bool                                     // exists only with enableTestCommands
}

// Parameters holds the current values; reads take no lock.
type Parameters struct {
	Svc    *Service                                // the service whose parameters they are
	mu     sync.Mutex                              // writers
	Lines  map[string]*Parameter                   // the table, by name
	Values map[string]*atomic.Pointer[value.Value] // the value of each parameter by its name; a pointer is never nil
	// Missing says why a parameter does not exist, "" if that is not known; nil: never.
	Missing func(name string) string
	said    map[string]bool // parameters without effect that the log has; guarded by mu
}

// Load applies start-up values, given as text. The messages are mongod's.
func (p *Parameters) Load(given map[string]string) error {
	tests := p.Lines["enableTestCommands"]
	if text, ok := given["enableTestCommands"]; ok && tests != nil {
		if err := p.setText(tests, text); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		line := p.Lines[name]
		switch {
		case line == nil && strings.HasPrefix(name, featureFlag):
			p.Svc.Log.Warn().Str("parameter", name).Str("reason", "features of MongoDB cannot be switched").Msg(sayNoEffect)
		case line == nil:
			return p.unknown(name)
		case !p.Enabled(line):
			return mongoerr.Newf(mongoerr.BadValue, "--setParameter '%s' only available when used with 'enableTestCommands'", name)
		case !line.Startup:
			return mongoerr.Newf(mongoerr.BadValue, "Cannot use --setParameter to set %q at startup", name)
		default:
			if err := p.setText(line, given[name]); err != nil {
				return err
			}
		}
	}
	return nil
}

// featureFlag begins the names of the parameters that switch features of MongoDB; which
// there are differs between its versions.
const featureFlag = "featureFlag"

// unknown is the error of a parameter that does not exist; it says why if that is known, or else
// which one was probably meant.
func (p *Parameters) unknown(name string) error {
	text := fmt.Sprintf("Unknown --setParameter '%s'", name)
	reason := ""
	if p.Missing != nil {
		reason = p.Missing(name)
	}
	if reason != "" {
		text += ": " + reason
	} else if like := p.like(name); like != "" {
		text += ", did you mean " + like + "?"
	}
	return mongoerr.New(mongoerr.BadValue, text)
}

// like is the parameter for the command line whose name is most like another, "" if none is.
func (p *Parameters) like(name string) string {
	known := slices.DeleteFunc(slices.Sorted(maps.Keys(p.Lines)), func(k string) bool {
		return !p.Lines[k].Startup || !p.Enabled(p.Lines[k])
	})
	return editdistance.Nearest(name, known, func(k string) bool { return strings.EqualFold(k, name) })
}

// Enabled reports whether a parameter exists: some do only with enableTestCommands.
func (p *Parameters) Enabled(line *Parameter) bool {
	return !line.TestOnly || p.Bool("enableTestCommands")
}

// setText reads and stores a value that is given as text.
func (p *Parameters) setText(line *Parameter, text string) error {
	v, err := parseParameter(line.Initial.Kind(), text)
	if err == nil {
		err = p.Set(line, v)
	}
	if err != nil {
		return mongoerr.Newf(mongoerr.BadValue, "Bad value for parameter %q: %s", line.Name, mongoerr.From(err).Message)
	}
	return nil
}

// parseParameter reads text as the type of the parameter.
func parseParameter(kind value.Kind, text string) (value.Value, error) {
	switch kind {
	case value.KindBool:
		switch text {
		case "true", "1":
			return value.Bool(true), nil
		case "false", "0":
			return value.Bool(false), nil
		}
		return value.Value{}, errors.New("Value is not a valid boolean")
	case value.KindInt32, value.KindInt64, value.KindDouble:
		if n, err := strconv.ParseInt(text, 0, 64); err == nil {
			return value.Int(n), nil
		}
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return value.Double(f), nil
		}
		return value.Value{}, fmt.Errorf("%q is not a number", text)
	case value.KindDocument:
		if d, err := relaxed.Doc(text); err == nil {
			return value.Document(d), nil
		}
	}
	return value.String(text), nil
}

// sayNoEffect is the line of the log about a parameter without effect.
const sayNoEffect = "Parameter without effect"

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
	if line.NoEffect != "" && !p.said[line.Name] {
		if p.said == nil {
			p.said = map[string]bool{}
		}
		p.said[line.Name] = true
		p.Svc.Log.Warn().Str("parameter", line.Name).Str("reason", line.NoEffect).Msg(sayNoEffect)
	}
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
