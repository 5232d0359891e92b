package stage

import (
	"github.com/duskdb/duskdb/value"
)

// RunsScripts reports whether an expression, or a pipeline of them, names an
// operator that runs JavaScript.
func RunsScripts(v value.Value) bool {
	if k := v.Kind(); k != value.KindDocument && k != value.KindArray {
		return false
	}
	for name, e := range v.Doc().All() {
		if name == "$function" || name == "$_internalJsEmit" || RunsScripts(e) {
			return true
		}
	}
	return false
}
