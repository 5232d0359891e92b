package kernel

import (
	"strings"

	"github.com/duskdb/duskdb/value"
)

// Profiled reports whether the profiler hears of the command at all: mongod's
// learns the level of a database when a command opens one of its collections,
// or its statistics.
func (c *Call) Profiled() bool {
	switch c.Cmd.Name {
	case "getMore":
		return !strings.HasPrefix(c.Body.Lookup("collection").Str(), "$cmd.list")
	case "killCursors", "explain", "bulkWrite", "renameCollection", "dbStats":
		return true
	}
	return c.Cmd.On == OnCollection
}

// mostProfiled is the size of a command that is shown whole.
const mostProfiled = 50 << 10

// Truncated is a command as the profile shows it: a long one as the beginning
// of its text, and its comment.
func Truncated(d value.Doc) value.Doc {
	if len(d) <= mostProfiled {
		return d
	}
	comment, commented := d.Get("comment")
	rest := value.NewBuilder()
	for name, v := range d.All() {
		if name != "comment" {
			rest.Append(name, v)
		}
	}
	text := rest.Doc().String()
	if len(text) > mostProfiled {
		text = strings.ToValidUTF8(text[:mostProfiled-3], "") + "..."
	}
	b := value.NewBuilder()
	b.String("$truncated", text)
	if commented {
		b.Append("comment", comment)
	}
	return b.Doc()
}
