package timeseries

import (
	"strings"

	"github.com/duskdb/duskdb/value"
)

// partialFilter translates the filter of a partial index on measurements to
// one on buckets that matches every bucket which may contain a matching
// measurement; nil if the control values cannot decide a part of it.
func (o *Options) partialFilter(filter value.Doc) value.Doc {
	conditions := []value.Doc{}
	for name, v := range filter.All() {
		c := o.partialCondition(name, v)
		if c == nil {
			return nil
		}
		conditions = append(conditions, c...)
	}
	return conjunction(conditions)
}

// partialCondition translates one condition of a partial filter.
func (o *Options) partialCondition(name string, v value.Value) []value.Doc {
	switch name {
	case "$and", "$or":
		var branches value.ArrayBuilder
		for branch := range v.Doc().Values() {
			d := o.partialFilter(branch.Doc())
			if d == nil {
				return nil
			}
			branches.Append(value.Document(d))
		}
		return []value.Doc{value.NewDoc(name, branches.Value())}
	case "$comment":
		return []value.Doc{}
	}
	if name == "" || name[0] == '$' {
		return nil
	}
	if path, ok := o.metaPath(name); ok {
		return []value.Doc{value.NewDoc(path, v)}
	}
	if name == o.TimeField {
		if !onlyDates(v) {
			return nil
		}
		// Without the conditions that follow from the span, which may change.
		return []value.Doc{o.newPushdown(value.NewDoc(name, v), PushdownOptions{}, 0).Filter}
	}
	return o.partialField(name, v)
}

// partialField reads the predicate on a field that is measured.
func (o *Options) partialField(name string, v value.Value) (conditions []value.Doc) {
	if v.Kind() != value.KindDocument || firstKey(v.Doc()) == "" || firstKey(v.Doc())[0] != '$' {
		v = value.Document(value.NewDoc("$eq", v))
	}
	for op, arg := range v.Doc().All() {
		switch op {
		case "$exists":
			if !arg.Truthy() {
				return nil
			}
			root, _, _ := strings.Cut(name, ".")
			conditions = append(conditions, exists(root))
		case "$in":
			var any value.ArrayBuilder
			for e := range arg.Doc().Values() {
				if !scalar(e) {
					return nil
				}
				any.Append(value.Document(conjunction(controlBounds(name, opEq, e))))
			}
			conditions = append(conditions, value.NewDoc("$or", any.Value()))
		default:
			c, ok := compareOps[op]
			if !ok || !scalar(arg) {
				return nil
			}
			conditions = append(conditions, controlBounds(name, c, arg)...)
		}
	}
	return conditions
}

// scalar reports whether the control values can decide a comparison with a
// value. They cannot for null, which equals missing fields, nor for documents,
// arrays and expressions.
func scalar(v value.Value) bool {
	switch v.Kind() {
	case value.KindNull, value.KindUndefined, value.KindDocument, value.KindArray, value.KindRegex:
		return false
	}
	return true
}

func exists(path string) value.Doc {
	return value.NewDoc(minPrefix+path, value.Document(value.NewDoc("$exists", value.Bool(true))))
}

// controlBounds returns the conditions of a comparison on the minimum and the
// maximum of a bucket, by type. A path into documents may lead through
// arrays, for which control has only parts: then only the existence of its
// root is required.
func controlBounds(path string, op compareOp, v value.Value) (conditions []value.Doc) {
	if root, _, within := strings.Cut(path, "."); within {
		return []value.Doc{exists(root)}
	}
	lo, hi := minPrefix+path, maxPrefix+path
	bound := func(field, operator string, above bool) value.Doc {
		return value.NewDoc("$or", value.NewArray(
			value.Document(value.NewDoc(field, value.Document(value.NewDoc(operator, v)))),
			value.Document(value.NewDoc(field, value.Document(value.NewDoc("$type", otherTypes(v, above)))))))
	}
	switch op {
	case opGt:
		return append(conditions, bound(hi, "$gt", true))
	case opGte:
		return append(conditions, bound(hi, "$gte", true))
	case opLt:
		return append(conditions, bound(lo, "$lt", false))
	case opLte:
		return append(conditions, bound(lo, "$lte", false))
	}
	return append(conditions, bound(lo, "$lte", false), bound(hi, "$gte", true))
}

// typeOrder names the types in the order in which values sort.
var typeOrder = []struct {
	name string
	kind value.Kind
}{
	{"minKey", value.KindMinKey}, {"null", value.KindNull}, {"number", value.KindInt32}, {"string", value.KindString}, {"object", value.KindDocument},
	{"array", value.KindArray}, {"binData", value.KindBinary}, {"objectId", value.KindObjectID}, {"bool", value.KindBool}, {"date", value.KindDateTime},
	{"timestamp", value.KindTimestamp}, {"regex", value.KindRegex}, {"maxKey", value.KindMaxKey},
}

// otherTypes returns the types above or below that of a value, and array,
// whose elements are compared one by one.
func otherTypes(v value.Value, above bool) value.Value {
	list := []value.Value{value.String("array")}
	rank := value.KeyRank(v.Kind())
	for _, t := range typeOrder {
		if r := value.KeyRank(t.kind); t.name != "array" && (above && r > rank || !above && r < rank) {
			list = append(list, value.String(t.name))
		}
	}
	return value.NewArray(list...)
}
