package canonical

import (
	"github.com/duskdb/duskdb/value"
)

// SameCollation reports whether two collators compare strings in the same way.
func SameCollation(a, b value.Collator) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return a == b || CollationDoc(a).String() == CollationDoc(b).String()
}

// CollationDoc returns the specification of a collation; nil for simple comparison.
func CollationDoc(c value.Collator) value.Doc {
	if d, ok := c.(interface{ Doc() value.Doc }); ok {
		return d.Doc()
	}
	return nil
}
