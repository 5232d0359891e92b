package update

import (
	"math"
	"slices"
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/project/marks"
	"github.com/duskdb/duskdb/value"
)

// push is $push.
type push struct {
	creator
	values   []value.Value
	depth    int   // the depth of the deepest value
	position int64 // negative: from the end
	slice    int64 // negative: keep the end
	sort     expr.ElementOrder
}

// pushClauses are the clauses of $push beside $each, in the order in which
// they are checked.
var pushClauses = []struct {
	name  string
	parse func(m *push, name string, v value.Value) error
}{
	{"$each", (*push).parseEach},
	{"$slice", (*push).parseSlice},
	{"$sort", (*push).parseSort},
	{"$position", (*push).parsePosition},
}

// compilePush compiles $push: a value, or $each with its clauses.
func compilePush(_ *compiler, _ string, v value.Value) (modifier, error) {
	m := &push{position: math.MaxInt64, slice: math.MaxInt64}
	if v.Kind() != value.KindDocument || !v.Doc().Has("$each") {
		m.values = []value.Value{v}
		m.depth = 1 + depthOf(v)
		return m, nil
	}
	seen := map[string]bool{}
	for name := range v.Doc().All() {
		known := false
		for _, c := range pushClauses {
			known = known || c.name == name
		}
		if !known {
			return nil, mongoerr.Newf(mongoerr.BadValue, "Unrecognized clause in $push: %s", name)
		}
		if seen[name] {
			return nil, mongoerr.Newf(mongoerr.BadValue, "Only one %s is supported.", name)
		}
		seen[name] = true
	}
	for _, c := range pushClauses {
		if arg, ok := v.Doc().Get(c.name); ok {
			if err := c.parse(m, c.name, arg); err != nil {
				return nil, err
			}
		}
	}
	return m, nil
}

func (m *push) parseEach(_ string, v value.Value) error {
	if v.Kind() != value.KindArray {
		return mongoerr.Newf(mongoerr.BadValue, "The argument to $each in $push must be an array but it was of type: %s", v.Kind())
	}
	m.values = valuesOf(v.Doc())
	m.depth = depthOf(v)
	return nil
}

func (m *push) parseSlice(name string, v value.Value) (err error) {
	if m.slice, err = parseInteger(name, v); err != nil {
		return mongoerr.Newf(mongoerr.BadValue, "The value for $slice must be an integer value but was given type: %s", v.Kind())
	}
	return nil
}

func (m *push) parsePosition(name string, v value.Value) (err error) {
	if m.position, err = parseInteger(name, v); err != nil {
		return mongoerr.Newf(mongoerr.BadValue, "The value for $position must be an integer value, not of type: %s", v.Kind())
	}
	return nil
}

func (m *push) parseSort(_ string, v value.Value) (err error) {
	m.sort, err = expr.ParseElementOrder(v)
	return err
}

// update appends in place if possible, and otherwise builds the new array.
func (m *push) update(a *applier, e element) (outcome, error) {
	if e.kind() != value.KindArray {
		return 0, mongoerr.Newf(mongoerr.BadValue, "The field '%s' must be an array but is of type %s in document {%s}",
			strings.Join(a.path, "."), e.kind(), a.idString("no id"))
	}
	old := e.value.Doc()
	if m.appends() {
		if len(m.values) == 0 {
			return unchanged, nil
		}
		start := a.open(value.KindArray, e.key)
		a.dst = append(a.dst, old[4:len(old)-1]...)
		a.appendElements(m.values, old.Len())
		a.close(start)
		return replaced, a.checkDepth(m.depth)
	}
	was := slices.Collect(old.Values())
	now, touched, err := m.arrange(a, was)
	if err != nil || !touched {
		return unchanged, err
	}
	start := a.open(value.KindArray, e.key)
	a.appendElements(now, 0)
	a.close(start)
	return replaced, a.checkDepth(m.depth)
}

// appends reports whether the values are only appended.
func (m *push) appends() bool {
	return m.position == math.MaxInt64 && m.slice == math.MaxInt64 && m.sort == nil
}

// arrange inserts, sorts and slices. touched reports whether any of them
// changed the array; sorting always counts as a change.
func (m *push) arrange(a *applier, vs []value.Value) (now []value.Value, touched bool, err error) {
	n := int64(len(vs))
	at := m.position
	if at < 0 {
		at = max(n+max(at, -n), 0)
	}
	now = slices.Insert(slices.Clone(vs), int(min(at, n)), m.values...)
	touched = len(m.values) > 0
	if m.sort != nil {
		touched = true
		err := expr.SortStable(a.env, now, func(x, y value.Value) int { return m.sort.Compare(x, y, a.u.opts.Collation) })
		if err != nil {
			return nil, false, err
		}
	}
	keep := m.slice
	if keep < 0 {
		keep = -max(keep, -math.MaxInt64)
	}
	if int64(len(now)) <= keep {
		return now, touched, nil
	}
	if m.slice < 0 {
		return now[len(now)-int(keep):], true, nil
	}
	return now[:keep], true, nil
}

func (m *push) create(a *applier) error {
	now := m.values
	if !m.appends() {
		var err error
		if now, _, err = m.arrange(a, nil); err != nil {
			return err
		}
	}
	start := a.open(value.KindArray, a.key)
	a.appendElements(now, 0)
	a.close(start)
	return a.checkDepth(m.depth)
}

// appendElements writes values as array elements, counting from n.
func (a *applier) appendElements(vs []value.Value, n int) {
	for _, v := range vs {
		a.dst = append(a.dst, byte(v.Kind()))
		a.dst = append(value.AppendIndex(a.dst, n), 0)
		a.dst = value.AppendPayload(a.dst, v)
		n++
	}
}

// addToSet is $addToSet.
type addToSet struct {
	creator
	set   valueSet
	depth int
}

// compileAddToSet compiles $addToSet: a value, or $each.
func compileAddToSet(c *compiler, _ string, v value.Value) (modifier, error) {
	values := []value.Value{v}
	if name, each := v.Doc().First(); v.Kind() == value.KindDocument && name == "$each" {
		if each.Kind() != value.KindArray {
			return nil, mongoerr.Newf(mongoerr.TypeMismatch,
				"The argument to $each in $addToSet must be an array but it was of type %s", each.Kind())
		}
		if v.Doc().Len() > 1 {
			return nil, mongoerr.Newf(mongoerr.BadValue, "Found unexpected fields after $each in $addToSet: %s", v.Doc())
		}
		values = valuesOf(each.Doc())
	}
	m := &addToSet{set: newValueSet(values, c.u.opts.Collation)}
	for _, v := range m.set.values {
		m.depth = max(m.depth, 1+depthOf(v))
	}
	return m, nil
}

// update appends the values that the array does not contain.
func (m *addToSet) update(a *applier, e element) (outcome, error) {
	if e.kind() != value.KindArray {
		return 0, mongoerr.Newf(mongoerr.BadValue, "Cannot apply $addToSet to non-array field. Field named '%s' has non-array type %s",
			a.name(), e.kind())
	}
	old := e.value.Doc()
	var there marks.Set
	n, known := 0, 0
	it := old.Iter()
	for ; it.Next(); n++ {
		if err := a.tick(0); err != nil {
			return 0, err
		}
		if i := m.set.find(it.Value()); i >= 0 && !there.Has(i) {
			there.Add(i, len(m.set.values))
			known++
		}
	}
	fresh := m.set.values
	if known > 0 {
		fresh = make([]value.Value, 0, len(fresh)-known)
		for i, v := range m.set.values {
			if !there.Has(i) {
				fresh = append(fresh, v)
			}
		}
	}
	if len(fresh) == 0 {
		return unchanged, nil
	}
	start := a.open(value.KindArray, e.key)
	a.dst = append(a.dst, old[4:len(old)-1]...)
	a.appendElements(fresh, n)
	a.close(start)
	return replaced, a.checkDepth(m.depth)
}

func (m *addToSet) create(a *applier) error {
	start := a.open(value.KindArray, a.key)
	a.appendElements(m.set.values, 0)
	a.close(start)
	return a.checkDepth(m.depth)
}

// parseInteger reads a whole number by mongod's rules for the arguments of
// operators.
func parseInteger(name string, v value.Value) (int64, error) {
	n, complaint := v.ExactInt64()
	if complaint != "" {
		return 0, mongoerr.Newf(mongoerr.FailedToParse, "%s: %s", complaint, elementString(name, v))
	}
	return n, nil
}
