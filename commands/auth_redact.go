package commands

import "github.com/duskdb/duskdb/value"

// secretFields are the arguments that must not be shown, in the commands
// flagged as secret.
var secretFields = map[string]bool{"pwd": true, "payload": true, "key": true, "nonce": true}

// shown is the command as currentOp, logs and messages may show it: without
// passwords and what is like them.
func (c *Call) shown() value.Doc {
	if c.cmd == nil || c.cmd.flags&secret == 0 && !c.Body.Has("speculativeAuthenticate") {
		return c.Body
	}
	return redact(c.Body)
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
