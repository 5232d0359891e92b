package update

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// maxPathLength is the number of components that a path may have: no document
// nests deeper, and the tree is walked recursively.
const maxPathLength = value.MaxDepth

// parsePath splits a path that an operator may write to.
func parsePath(dotted string) ([]string, error) {
	if dotted == "" {
		return nil, mongoerr.New(mongoerr.EmptyFieldName, "An empty update path is not valid.")
	}
	if strings.Count(dotted, ".") >= maxPathLength {
		return nil, errTooDeep
	}
	parts := strings.Split(dotted, ".")
	positionals := 0
	for _, p := range parts {
		if p == "" {
			return nil, mongoerr.Newf(mongoerr.EmptyFieldName,
				"The update path '%s' contains an empty field name, which is not allowed.", dotted)
		}
		if isPositional(p) {
			positionals++
		}
	}
	if positionals > 1 {
		return nil, mongoerr.Newf(mongoerr.BadValue, "Too many positional (i.e. '$') elements found in path '%s'", dotted)
	}
	if isPositional(parts[0]) {
		return nil, mongoerr.Newf(mongoerr.BadValue,
			"Cannot have positional (i.e. '$') element in the first position in path '%s'", dotted)
	}
	return parts, nil
}

func isPositional(part string) bool { return part == "$" }

// isArrayFilter reports whether a component is $[] or $[identifier].
func isArrayFilter(part string) bool {
	return len(part) >= 3 && strings.HasPrefix(part, "$[") && part[len(part)-1] == ']'
}

// isDynamic reports whether the path names array elements by $, $[] or $[id].
func isDynamic(parts []string) bool {
	for _, p := range parts {
		if isPositional(p) || isArrayFilter(p) {
			return true
		}
	}
	return false
}

// arrayIndex reads a component as an array position: digits only, leading
// zeros allowed, 32 bits.
func arrayIndex(part string) (int, bool) {
	if part == "" || part[0] < '0' || part[0] > '9' {
		return 0, false
	}
	n, err := strconv.ParseUint(part, 10, 32)
	return int(n), err == nil
}

// comparePart orders path components as MongoDB applies them: by bytes, but
// numbers by value among themselves.
func comparePart(a, b string) int {
	if isNumeric(a) && isNumeric(b) && len(a) != len(b) {
		return cmp.Compare(len(a), len(b))
	}
	return strings.Compare(a, b)
}

// isNumeric reports whether a component is a number without leading zeros.
func isNumeric(part string) bool {
	if part == "" || part[0] == '0' && len(part) > 1 {
		return false
	}
	for i := range len(part) {
		if part[i] < '0' || part[i] > '9' {
			return false
		}
	}
	return true
}

// isPrefix reports whether a is b or a prefix of it.
func isPrefix(a, b []string) bool {
	if len(a) > len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
