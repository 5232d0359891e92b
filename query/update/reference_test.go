package update

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// The reference applies operators one after the other to a tree in memory,
// in the order of their paths, as mongod does. It knows plain paths only.

type (
	refObject struct {
		names []string
		vals  map[string]any
	}
	refArray struct{ vals []any }
)

func refDecode(v value.Value) any {
	switch v.Kind() {
	case value.KindDocument:
		o := &refObject{vals: map[string]any{}}
		for name, e := range v.Doc().All() {
			o.put(name, refDecode(e))
		}
		return o
	case value.KindArray:
		a := &refArray{}
		for e := range v.Doc().Values() {
			a.vals = append(a.vals, refDecode(e))
		}
		return a
	}
	return v
}

func refEncode(x any) value.Value {
	switch x := x.(type) {
	case *refObject:
		b := value.NewBuilder()
		for _, name := range x.names {
			b.Append(name, refEncode(x.vals[name]))
		}
		return value.Document(b.Doc())
	case *refArray:
		var vs []value.Value
		for _, e := range x.vals {
			vs = append(vs, refEncode(e))
		}
		return value.NewArray(vs...)
	}
	return x.(value.Value)
}

func (o *refObject) put(name string, x any) {
	if _, ok := o.vals[name]; !ok {
		o.names = append(o.names, name)
	}
	o.vals[name] = x
}

// refChild gives a child; ok is false if x cannot have one of that name.
func refChild(x any, part string) (child any, ok bool) {
	switch x := x.(type) {
	case *refObject:
		return x.vals[part], true
	case *refArray:
		i, ok := arrayIndex(part)
		if ok && i < len(x.vals) {
			return x.vals[i], true
		}
		return nil, ok
	}
	return nil, false
}

func refPut(x any, part string, child any) {
	switch x := x.(type) {
	case *refObject:
		x.put(part, child)
	case *refArray:
		i, _ := arrayIndex(part)
		for i >= len(x.vals) {
			x.vals = append(x.vals, value.Null())
		}
		x.vals[i] = child
	}
}

func refRemove(x any, part string) {
	switch x := x.(type) {
	case *refObject:
		delete(x.vals, part)
		x.names = slices.DeleteFunc(x.names, func(n string) bool { return n == part })
	case *refArray:
		refPut(x, part, value.Null())
	}
}

type refOp struct {
	name string
	path []string
	arg  value.Value
}

// apply returns the code of the error, 0 without an error.
func (op refOp) apply(root any) mongoerr.Code {
	here := root
	for i, part := range op.path[:len(op.path)-1] {
		child, ok := refChild(here, part)
		if !ok {
			return op.blocked()
		}
		if child == nil {
			if !op.creates() {
				return 0
			}
			rest := op.path[i:]
			made := any(&refObject{vals: map[string]any{}})
			inner := refOp{op.name, rest[1:], op.arg}
			if code := inner.apply(made); code != 0 {
				return code
			}
			refPut(here, part, made)
			return 0
		}
		here = child
	}
	last := op.path[len(op.path)-1]
	child, ok := refChild(here, last)
	if !ok {
		return op.blocked()
	}
	if child == nil && !op.creates() {
		return 0
	}
	return op.modify(here, last, child)
}

func (op refOp) creates() bool { return op.name != "$unset" && op.name != "$pop" }

func (op refOp) blocked() mongoerr.Code {
	if op.name == "$unset" {
		return 0
	}
	return mongoerr.PathNotViable
}

func (op refOp) modify(parent any, name string, old any) mongoerr.Code {
	v, isScalar := old.(value.Value)
	switch op.name {
	case "$set":
		refPut(parent, name, refDecode(op.arg))
	case "$unset":
		refRemove(parent, name)
	case "$inc":
		if old == nil {
			refPut(parent, name, op.arg)
			return 0
		}
		if !isScalar || !v.IsNumber() {
			return mongoerr.TypeMismatch
		}
		sum, ok := value.Add(v, op.arg)
		if !ok {
			return mongoerr.BadValue
		}
		if sum.Kind() == v.Kind() && value.Equal(sum, v) { // SafeNum::isIdentical of mongod compares numbers: -0.0 + 0 is no change
			sum = v
		}
		refPut(parent, name, sum)
	case "$min":
		if old == nil || value.Compare(op.arg, refEncode(old)) < 0 {
			refPut(parent, name, refDecode(op.arg))
		}
	case "$push":
		a, ok := old.(*refArray)
		if old == nil {
			a, ok = &refArray{}, true
		}
		if !ok {
			return mongoerr.BadValue
		}
		a.vals = append(a.vals, refDecode(op.arg))
		refPut(parent, name, a)
	case "$pop":
		a, ok := old.(*refArray)
		if !ok {
			return mongoerr.TypeMismatch
		}
		if len(a.vals) > 0 {
			a.vals = a.vals[:len(a.vals)-1]
		}
	}
	return 0
}

func TestAgainstReference(t *testing.T) {
	name := rapid.SampledFrom([]string{"a", "b", "c", "0", "1", "3", "10"})
	opNames := []string{"$set", "$unset", "$inc", "$min", "$push", "$pop"}
	rapid.Check(t, func(t *rapid.T) {
		d := drawDoc(t, 3)
		var ops []refOp
		b := value.NewBuilder()
		for _, op := range rapid.SliceOfNDistinct(rapid.SampledFrom(opNames), 1, 3, rapid.ID).Draw(t, "operators") {
			b.StartDocument(op)
			for range rapid.IntRange(1, 2).Draw(t, "fields") {
				path := rapid.SliceOfN(name, 1, 3).Draw(t, "path")
				arg := drawArgument(t, op)
				if op == "$push" {
					arg = drawValue(t, 1)
				}
				if clashes(ops, path) || arg.Doc().Has("$each") {
					continue
				}
				ops = append(ops, refOp{op, path, arg})
				b.Append(strings.Join(path, "."), arg)
			}
			b.End()
		}
		spec := b.Doc()
		compareWithReference(t, spec, ops, d)
	})
}

func clashes(ops []refOp, path []string) bool {
	for _, op := range ops {
		if isPrefix(op.path, path) || isPrefix(path, op.path) {
			return true
		}
	}
	return false
}

func compareWithReference(t *rapid.T, spec value.Doc, ops []refOp, d value.Doc) {
	u, err := Compile(value.Document(spec), Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := u.Apply(expr.NewEnv(now), d, ApplyOptions{Position: -1})

	slices.SortFunc(ops, func(x, y refOp) int {
		for i := range min(len(x.path), len(y.path)) {
			if c := comparePart(x.path[i], y.path[i]); c != 0 {
				return c
			}
		}
		return len(x.path) - len(y.path)
	})
	model := refDecode(value.Document(d))
	var code mongoerr.Code
	for _, op := range ops {
		if code = op.apply(model); code != 0 {
			break
		}
	}
	if mongoerr.CodeOf(err) != code {
		t.Fatalf("%s on %s: error %v, want %d", spec, d, err, code)
	}
	if want := refEncode(model); code == 0 && want.Doc().CanonicalJSON() != got.CanonicalJSON() {
		t.Fatalf("%s on %s:\ngot  %s\nwant %s", spec, d, got, want)
	}
}
