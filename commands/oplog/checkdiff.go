package oplog

import (
	"strconv"
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// CheckDiff checks that a difference from a client has the form of a logged one (see
// differ). ApplyDiff relies on this.
func CheckDiff(diff value.Doc) error {
	if marked, ok := diff.Get("a"); ok && marked.Truthy() {
		return checkArrayDiff(diff)
	}
	for name, v := range diff.All() {
		var err error
		switch {
		case name == "d", name == "u", name == "i":
			if v.Kind() != value.KindDocument {
				err = mongoerr.Newf(4770507, "Expected %s section to be type object", name)
			}
		case v.Kind() != value.KindDocument:
			err = badDiff(name)
		case strings.HasPrefix(name, "s") && len(name) > 1:
			err = CheckDiff(v.Doc())
		default:
			err = badDiff(name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// maxDiffIndex bounds the arrays that a difference can make: more elements
// than fit into a document.
const maxDiffIndex = 1500000

func checkArrayDiff(diff value.Doc) error {
	for name, v := range diff.All() {
		switch {
		case name == "a":
			continue
		case name == "l":
			if !v.IsNumber() || v.SafeInt64() < 0 || v.SafeInt64() > maxDiffIndex {
				return badDiff(name)
			}
			continue
		case len(name) < 2 || name[0] != 'u' && name[0] != 's':
			return badDiff(name)
		}
		i, err := strconv.Atoi(name[1:])
		if err != nil || i < 0 || i > maxDiffIndex {
			return badDiff(name)
		}
		if name[0] == 'u' {
			continue
		}
		if v.Kind() != value.KindDocument {
			return badDiff(name)
		}
		if err := CheckDiff(v.Doc()); err != nil {
			return err
		}
	}
	return nil
}

func badDiff(name string) error {
	return mongoerr.Newf(4770505, "unexpected field in a diff: %s", name)
}
