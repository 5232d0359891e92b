package access

import (
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/value"
)

// secretFields are the arguments that must not be shown, in the commands
// flagged as secret.
var secretFields = map[string]bool{"pwd": true, "payload": true, "key": true, "nonce": true}

// Shown returns the command as currentOp, logs and messages may show it: without
// passwords and other secrets.
func Shown(c *kernel.Call) value.Doc {
	if c.Cmd == nil {
		return c.Body
	}
	return redactCommand(c.Svc, c.Cmd, c.Body)
}

func redactCommand(s *kernel.Service, cmd *kernel.Command, d value.Doc) value.Doc {
	switch {
	case cmd.Has(kernel.Secret) || cmd.Has(kernel.Handshake) && d.Has("speculativeAuthenticate"):
		return redact(d)
	case cmd.Has(kernel.WrapsCommand):
		return replaceFirst(d, func(v value.Value) value.Value {
			if v.Kind() != value.KindDocument {
				return v
			}
			return value.Document(redactInner(s, v.Doc()))
		})
	case cmd.Has(kernel.WrapsEntries):
		return replaceFirst(d, func(list value.Value) value.Value { return redactEntries(s, list) })
	}
	return d
}

// redactInner redacts a command within another one. It redacts unknown commands, too: one
// may be a misspelt command with a secret.
func redactInner(s *kernel.Service, d value.Doc) value.Doc {
	name, _ := d.First()
	if cmd := s.Table[name]; cmd != nil {
		return redactCommand(s, cmd, d)
	}
	return redact(d)
}

// redactEntries redacts the commands among the entries of applyOps.
func redactEntries(s *kernel.Service, list value.Value) value.Value {
	if list.Kind() != value.KindArray {
		return list
	}
	var out []value.Value
	for e := range list.Doc().Values() {
		if e.Kind() == value.KindDocument && e.Doc().Lookup("op").Str() == "c" {
			b := value.NewBuilder()
			for name, v := range e.Doc().All() {
				if name == "o" && v.Kind() == value.KindDocument {
					v = value.Document(redactInner(s, v.Doc()))
				}
				b.Append(name, v)
			}
			e = value.Document(b.Doc())
		}
		out = append(out, e)
	}
	return value.NewArray(out...)
}

// replaceFirst replaces the first field.
func replaceFirst(d value.Doc, with func(value.Value) value.Value) value.Doc {
	b := value.NewBuilder()
	first := true
	for name, v := range d.All() {
		if first {
			v, first = with(v), false
		}
		b.Append(name, v)
	}
	return b.Doc()
}

func redact(d value.Doc) value.Doc {
	b := value.NewBuilder()
	for name, v := range d.All() {
		switch {
		case secretFields[name]:
			b.String(name, "xxx")
		case name == "speculativeAuthenticate" && v.Kind() == value.KindDocument:
			b.Document(name, redact(v.Doc()))
		default:
			b.Append(name, v)
		}
	}
	return b.Doc()
}
