package match

import (
	"regexp"

	"github.com/duskdb/duskdb/value"
)

var bareName = regexp.MustCompile(`([{,]\s*)([A-Za-z_$][\w$.]*)\s*:`)

var shorthands = regexp.MustCompile(`\b(nan|undef|minkey|maxkey)\b`)

// doc reads extended JSON in which names need no quotes and the values nan,
// undef, minkey and maxkey can be written plainly.
func doc(s string) value.Doc {
	s = shorthands.ReplaceAllStringFunc(s, func(w string) string {
		return map[string]string{
			"nan":    `{"$numberDouble": "NaN"}`,
			"undef":  `{"$undefined": true}`,
			"minkey": `{"$minKey": 1}`,
			"maxkey": `{"$maxKey": 1}`,
		}[w]
	})
	return value.MustJSON(bareName.ReplaceAllString(s, `$1"$2":`))
}
