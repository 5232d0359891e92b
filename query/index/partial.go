package index

import (
	"strings"
	"sync"

	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/value"
)

// maxPartialDepth is how deep a partialFilterExpression may nest.
const maxPartialDepth = 4

func compilePartial(filter value.Doc, c value.Collator) (*match.Matcher, error) {
	return match.Compile(filter, match.Options{Collation: c, NoExpr: true, NoSchema: true})
}

// envs pools environments for partial filters: many goroutines make keys, and
// a filter that is allowed in an index does not depend on its environment.
var envs = sync.Pool{New: func() any { return expr.NewEnv(0) }}

// covered reports whether the document belongs to the index.
func (s *Spec) covered(d value.Doc) (bool, error) {
	if s.Partial == nil {
		return true, nil
	}
	env := envs.Get().(*expr.Env)
	defer envs.Put(env)
	return s.Partial.Match(env, d)
}

// partialOperators are allowed in a partialFilterExpression.
var partialOperators = map[string]bool{
	"$eq": true, "$lt": true, "$lte": true, "$gt": true, "$gte": true, "$in": true,
	"$exists": true, "$type": true, "$geoWithin": true, "$geoIntersects": true, "$within": true,
}

// checkPartial refuses operators that are not allowed in a partial filter. The
// filter has compiled before.
func checkPartial(filter value.Doc) error { return checkPartialLevel(filter, 0) }

// checkPartialLevel checks one level of a partial filter: $and, $or and
// conditions on fields.
func checkPartialLevel(filter value.Doc, level int) error {
	if level+1 > maxPartialDepth {
		return cannotCreate("partialFilterExpression depth may not exceed %d", maxPartialDepth)
	}
	for name, v := range filter.All() {
		switch {
		case name == "$and" || name == "$or":
			for branch := range v.Doc().Values() {
				if err := checkPartialLevel(branch.Doc(), level+1); err != nil {
					return err
				}
			}
		case name == "$comment" || name == "$alwaysTrue":
		case strings.HasPrefix(name, "$"):
			return unsupportedPartial(name + ": " + v.String())
		default:
			if err := checkPartialField(name, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkPartialField checks the condition on one field of a partial filter.
func checkPartialField(path string, v value.Value) error {
	if v.Kind() == value.KindRegex {
		return unsupportedPartial(path + " regex " + v.String())
	}
	if !match.IsCondition(v) {
		return nil
	}
	for op, arg := range v.Doc().All() {
		negated := op == "$exists" && !arg.Truthy()
		if op == "$all" { // the equalities that it stands for
			if err := checkPartialAll(path, arg.Doc()); err != nil {
				return err
			}
			continue
		}
		switch {
		case op == "$ne":
			return unsupportedPartial("$not\n\t" + path + " $eq " + arg.String())
		case negated:
			return unsupportedPartial("$not\n\t" + path + " exists")
		case op == "$eq" && arg.Kind() == value.KindRegex || !partialOperators[op]:
			return unsupportedPartial(path + " " + op + " " + arg.String())
		}
	}
	return nil
}

// checkPartialAll takes the values of a $all for the $and of equalities that
// the matcher makes of it.
func checkPartialAll(path string, list value.Doc) error {
	for v := range list.Values() {
		if v.Kind() == value.KindRegex || firstKey(v.Doc()) == "$elemMatch" {
			return unsupportedPartial(path + " $all " + v.String())
		}
	}
	return nil
}

func unsupportedPartial(expression string) error {
	return cannotCreate("Expression not supported in partial index: %s\n", expression)
}
