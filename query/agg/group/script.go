package group

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/accumulate"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/script"
	"github.com/duskdb/duskdb/value"
)

// scripted is what $accumulator and $_internalJsReduce need besides an
// accumulation: their states run JavaScript.
type scripted struct {
	init, accumulate, merge, finalize string
	initArgs                          *expr.Expr
	reduce                            bool // $_internalJsReduce, whose function is accumulate
}

// batchBytes is how many bytes of values a state collects before it calls a function on
// them.
const batchBytes = 1 << 20

// largestCall is how large the values of one call of reduce may be.
const largestCall = 16 << 20

func parseScriptAccumulator(p *stage.Parser, a *Accumulation, v value.Value) error {
	if v.Kind() != value.KindDocument {
		return mongoerr.Newf(4544703, "$accumulator expects an object as an argument; found: %s", v.Kind())
	}
	s := &scripted{}
	for name, f := range v.Doc().All() {
		if err := s.argument(p, a, name, f); err != nil {
			return err
		}
	}
	switch {
	case s.init == "":
		return mongoerr.New(4544707, "$accumulator missing required argument 'init'")
	case s.accumulate == "":
		return mongoerr.New(4544708, "$accumulator missing required argument 'accumulate'")
	case s.merge == "":
		return mongoerr.New(4544709, "$accumulator missing required argument 'merge'")
	case a.Arg == nil:
		return mongoerr.New(4544710, "$accumulator missing required argument 'accumulateArgs'")
	}
	a.script, a.grows, a.args = s, true, s.spec(a.Arg)
	return nil
}

func (s *scripted) argument(p *stage.Parser, a *Accumulation, name string, v value.Value) (err error) {
	switch name {
	case "init":
		s.init, err = scriptText(p, name, v)
	case "accumulate":
		s.accumulate, err = scriptText(p, name, v)
	case "merge":
		s.merge, err = scriptText(p, name, v)
	case "finalize":
		s.finalize, err = scriptText(p, name, v)
	case "initArgs":
		s.initArgs, err = p.Expr(v)
	case "accumulateArgs":
		a.Arg, err = p.Expr(v)
	case "lang":
		switch {
		case v.Kind() != value.KindString:
			err = mongoerr.Newf(4544704, "$accumulator lang must be a string; found: %s", v.Kind())
		case v.Str() != "js":
			err = mongoerr.New(4544705, "$accumulator only supports lang: 'js'")
		}
	default:
		err = mongoerr.Newf(4544706, "$accumulator got an unexpected field: %s", name)
	}
	return err
}

// scriptText is a function, given as a constant.
func scriptText(p *stage.Parser, name string, v value.Value) (string, error) {
	e, err := p.Expr(v)
	if err != nil {
		return "", err
	}
	c, ok := e.Const()
	if !ok {
		return "", mongoerr.Newf(4544701, "$accumulator '%s' must be a constant expression", name)
	}
	if k := c.Kind(); k != value.KindString && k != value.KindCode {
		return "", mongoerr.Newf(4544702, "$accumulator '%s' must be a String or Code", name)
	}
	return c.Clone().Str(), nil
}

// spec is the argument of $accumulator as explain shows it.
func (s *scripted) spec(args *expr.Expr) value.Value {
	initArgs := value.Document(value.NewDoc("$const", value.NewArray()))
	if s.initArgs != nil {
		initArgs = s.initArgs.Value()
	}
	b := value.NewBuilder().String("init", s.init).Append("initArgs", initArgs).
		String("accumulate", s.accumulate).Append("accumulateArgs", args.Value()).String("merge", s.merge)
	if s.finalize != "" {
		b.String("finalize", s.finalize)
	}
	return value.Document(b.String("lang", "js").Doc())
}

func parseScriptReduce(p *stage.Parser, a *Accumulation, v value.Value) (err error) {
	if v.Kind() != value.KindDocument {
		return mongoerr.Newf(31326, "$_internalJsReduce requires a document argument, but found %s", v.Kind())
	}
	s := &scripted{reduce: true}
	for name, f := range v.Doc().All() {
		switch name {
		case "eval":
			if k := f.Kind(); k != value.KindString && k != value.KindCode {
				return mongoerr.Newf(31244, "$_internalJsReduce requires the 'eval' argument to be of type string, or code but found %s", k)
			}
			s.accumulate = f.Clone().Str()
		case "data":
			if a.Arg, err = p.Expr(f); err != nil {
				return err
			}
		default:
			return mongoerr.Newf(31243, "Invalid argument specified to $_internalJsReduce: %s: %s", name, f)
		}
	}
	switch {
	case s.accumulate == "":
		return mongoerr.Newf(31245, "$_internalJsReduce requires 'eval' argument, recieved input: %s", v) //nolint:misspell // mongod's spelling
	case a.Arg == nil:
		return mongoerr.Newf(31349, "$_internalJsReduce requires 'data' argument, recieved input: %s", v) //nolint:misspell // mongod's spelling
	}
	a.script, a.grows = s, true
	a.args = value.Document(value.NewDoc("data", a.Arg.Value(), "eval", value.String(s.accumulate)))
	return nil
}

// start makes the state of a group whose key is id.
func (s *scripted) start(x *stage.Exec, id value.Value) (accumulate.Accumulator, error) {
	if s.reduce {
		return &reduceState{s: s, op: x.Env.Script(false)}, nil
	}
	args := value.NewArray()
	if s.initArgs != nil {
		root := value.EmptyDoc
		if id.Kind() == value.KindDocument {
			root = id.Doc()
		}
		v, err := s.initArgs.Eval(x.Env, root)
		if err != nil {
			return nil, err
		}
		args = v
	}
	if args.Kind() != value.KindArray {
		return nil, mongoerr.Newf(4544711, "$accumulator initArgs must evaluate to an array: %s", args.Compact())
	}
	st := &scriptState{s: s, op: x.Env.Script(false)}
	var list []value.Value
	for v := range args.Doc().Values() {
		list = append(list, v)
	}
	var err error
	st.state, err = st.op.Call(s.init, nil, list...)
	return st, err
}

// finisher is an accumulator whose result may fail.
type finisher interface {
	Finish() (value.Value, error)
	// Failed returns the error that kept Partial from returning the state.
	Failed() error
}

// resultOf returns the result of a state, null if it has no result.
func resultOf(acc accumulate.Accumulator) (v value.Value, err error) {
	if f, ok := acc.(finisher); ok {
		v, err = f.Finish()
	} else {
		v = acc.Result()
	}
	if v.IsMissing() {
		v = value.Null()
	}
	return v, err
}

// scriptState is the state of an $accumulator.
type scriptState struct {
	s     *scripted
	op    *script.Operation
	state value.Value
	calls value.ArrayBuilder
	err   error
}

func (st *scriptState) Add(v value.Value) error {
	if v.Kind() != value.KindArray {
		return mongoerr.Newf(4544712, "$accumulator accumulateArgs must evaluate to an array: %s", v.Compact())
	}
	st.calls.Append(v)
	if st.calls.Size() < batchBytes {
		return nil
	}
	return st.flush()
}

// flush calls the functions on the values collected so far.
func (st *scriptState) flush() error {
	if st.err != nil || st.calls.Len() == 0 {
		return st.err
	}
	calls := st.calls.Value()
	st.calls = value.ArrayBuilder{}
	st.state, st.err = st.op.Fold(st.s.accumulate, false, st.state, calls)
	return st.err
}

func (st *scriptState) Finish() (value.Value, error) {
	if err := st.flush(); err != nil || st.s.finalize == "" {
		return st.state, err
	}
	return st.op.Call(st.s.finalize, nil, st.state)
}

func (st *scriptState) Failed() error { return st.err }

func (st *scriptState) Result() value.Value { return st.state }

func (st *scriptState) Size() int { return 200 + len(st.state.Bytes()) + st.calls.Size() }

func (st *scriptState) Partial() value.Value {
	_ = st.flush() // see Failed
	return st.state
}

func (st *scriptState) Merge(partial value.Value) (err error) {
	if err := st.flush(); err != nil {
		return err
	}
	st.state, st.err = st.op.Fold(st.s.merge, true, st.state, value.NewArray(partial))
	return st.err
}

// reduceState is the state of a group of mapReduce: the values that have not been
// reduced yet.
type reduceState struct {
	s      *scripted
	op     *script.Operation
	key    value.Value
	values []value.Value
	size   int
}

func (st *reduceState) Add(v value.Value) error {
	if v.IsMissing() {
		return nil
	}
	if v.Kind() != value.KindDocument {
		return mongoerr.Newf(31242, "$_internalJsReduce requires a document argument, but found %s", v.Kind())
	}
	d := v.Doc()
	if d.Len() != 2 || !d.Has("k") || !d.Has("v") {
		return mongoerr.Newf(31251, "$_internalJsReduce requires the 'data' argument to have a 'k' and 'v' field. Instead found%s", v.Compact())
	}
	if st.key.IsMissing() {
		st.key = d.Lookup("k").Clone()
	}
	st.push(d.Lookup("v").Clone())
	return nil
}

func (st *reduceState) push(v value.Value) {
	st.values = append(st.values, v)
	st.size += 64 + len(v.Bytes())
}

// Finish reduces until one value is left, in calls of at most 16 MB. The
// values that came last are reduced first.
func (st *reduceState) Finish() (v value.Value, err error) {
	for len(st.values) > 0 {
		var list value.ArrayBuilder
		left := len(st.values)
		for ; left > 0; left-- {
			next := st.values[left-1]
			if list.Size()+len(st.key.Bytes())+len(next.Bytes()) > largestCall {
				if list.Len() < 2 {
					return v, mongoerr.New(31392, "Value too large to reduce")
				}
				break
			}
			list.Append(next)
		}
		if v, err = st.op.Call(st.s.accumulate, nil, st.key, list.Value()); err != nil || left == 0 {
			return v, err
		}
		st.values = append(st.values[:left], v)
	}
	return v, nil
}

func (st *reduceState) Failed() error { return nil }

func (st *reduceState) Result() value.Value { return value.Null() }

func (st *reduceState) Size() int { return 200 + st.size }

func (st *reduceState) Partial() value.Value {
	return value.Document(value.NewDoc("k", st.key, "v", value.NewArray(st.values...)))
}

func (st *reduceState) Merge(partial value.Value) error {
	d := partial.Doc()
	if st.key.IsMissing() {
		st.key = d.Lookup("k").Clone()
	}
	for v := range d.Lookup("v").Doc().Values() {
		st.push(v.Clone())
	}
	return nil
}
