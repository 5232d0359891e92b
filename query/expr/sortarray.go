package expr

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// sortArray is a compiled $sortArray.
type sortArray struct {
	input node
	spec  value.Value
	by    ElementOrder
}

// parseSortArray compiles $sortArray: input and sortBy, which is a direction
// or a sort pattern.
func parseSortArray(p *parser, op *operator, v value.Value) (node, error) {
	f, err := op.fields(v)
	if err != nil {
		return nil, err
	}
	s := &sortArray{spec: f[1]}
	if s.input, err = p.operand(f[0]); err != nil {
		return nil, err
	}
	if s.by, err = ParseElementOrder(f[1]); err != nil {
		return nil, sortByError(f[1], err)
	}
	if _, ok := s.input.(constant); ok {
		return p.fold(s), nil
	}
	return s, nil
}

// sortByError is the error of a 'sortBy', which depends on its form.
func sortByError(by value.Value, err error) error {
	e := mongoerr.From(err)
	switch {
	case by.Kind() == value.KindDocument:
		return mongoerr.Newf(2942505, "%s: %s", e.Code.Name(), e.Message)
	case by.IsNumber():
		return mongoerr.New(2942506, e.Message)
	}
	return mongoerr.New(2942507, e.Message)
}

// eval sorts the elements of the input.
func (s *sortArray) eval(env *Env) (value.Value, error) {
	v, null, err := ofKind(s.input, env, value.KindArray, 2942504, "The input argument to $sortArray must be an array, but was of type: %s")
	if null || err != nil {
		return value.Null(), err
	}
	l, err := listOf(env, "$sortArray", v)
	if err == nil {
		err = l.sort(func(a, b value.Value) int { return s.by.Compare(a, b, env.Collation) })
	}
	if err != nil {
		return value.Value{}, err
	}
	return l.array(l.len())
}

func (s *sortArray) deps(d *depSink) { s.input.deps(d) }

func (s *sortArray) serial() value.Value {
	return value.Document(value.NewDoc("$sortArray", value.Document(value.NewDoc("input", s.input.serial(), "sortBy", s.spec))))
}
