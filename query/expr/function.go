package expr

import (
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// function is $function: a call of JavaScript.
type function struct {
	body string
	args node
	// self passes the single argument as this and obj, as for $where.
	self bool
}

// parseFunction compiles $function: body, args and lang.
func parseFunction(p *parser, _ *operator, v value.Value) (node, error) {
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.Newf(31260, "$function requires an object as an argument, found: %s", v.Kind())
	}
	d := v.Doc()
	body, ok := d.Get("body")
	if !ok {
		return nil, mongoerr.New(31261, "The body function must be specified.")
	}
	n, err := p.operand(body)
	if err != nil {
		return nil, err
	}
	c, ok := n.(constant)
	if !ok {
		return nil, mongoerr.New(31432, "The body function must be a constant expression")
	}
	if k := c.v.Kind(); k != value.KindString && k != value.KindCode {
		return nil, mongoerr.New(31262, "The body function must evaluate to type string or code")
	}
	args, ok := d.Get("args")
	if !ok {
		return nil, mongoerr.New(31263, "The args field must be specified.")
	}
	f := &function{body: c.v.Clone().Str(), self: d.Lookup("_internalSetObjToThis").Truthy()}
	if f.args, err = p.operand(args); err != nil {
		return nil, err
	}
	lang, ok := d.Get("lang")
	switch {
	case !ok:
		return nil, mongoerr.New(31418, "The lang field must be specified.")
	case lang.Kind() != value.KindString || lang.Str() != "js":
		return nil, mongoerr.New(31419, "Currently the only supported language specifier is 'js'.")
	}
	return f, nil
}

// eval evaluates the arguments and calls the function in the operation's
// scope.
func (f *function) eval(env *Env) (value.Value, error) {
	args, err := f.args.eval(env)
	if err != nil {
		return value.Value{}, err
	}
	if args.Kind() != value.KindArray {
		return value.Value{}, mongoerr.New(31266, "The args field must be of type array")
	}
	op := env.Script(f.self)
	if !f.self {
		var list []value.Value
		for v := range args.Doc().Values() {
			list = append(list, v)
		}
		return op.Call(f.body, nil, list...)
	}
	self := args.Doc().Index(0)
	if args.Doc().Len() != 1 || self.Kind() != value.KindDocument {
		return value.Value{}, mongoerr.New(31422, "field path $$CURRENT must be the only element in args")
	}
	return op.CallOn(f.body, self.Doc())
}

func (f *function) deps(d *depSink) {
	f.args.deps(d)
	dependsOnScript(d, "$function")
}

// dependsOnScript marks the expression as volatile, because a script may keep
// state between calls.
func dependsOnScript(d *depSink, name string) {
	if d.volatile != nil {
		d.volatile()
	}
	if d.script != nil {
		d.script(name)
	}
}

func (f *function) serial() value.Value {
	d := value.NewBuilder().String("body", f.body).Append("args", f.args.serial()).String("lang", "js")
	if f.self {
		d.Bool("_internalSetObjToThis", true)
	}
	return value.Document(value.NewDoc("$function", value.Document(d.Doc())))
}

// emit is $_internalJsEmit: the map function of mapReduce. Its value is the
// array of the emitted pairs, as documents {k, v}.
type emit struct {
	code string
	this node
}

// parseEmit compiles $_internalJsEmit: eval and this.
func parseEmit(p *parser, _ *operator, v value.Value) (node, error) {
	if v.Kind() != value.KindDocument {
		return nil, mongoerr.Newf(31221, "$_internalJsEmit requires an object as an argument, found: %s", v.Kind())
	}
	code, ok := v.Doc().Get("eval")
	switch {
	case !ok:
		return nil, mongoerr.New(31222, "The map function must be specified.")
	case code.Kind() != value.KindString && code.Kind() != value.KindCode:
		return nil, mongoerr.New(31224, "The map function must be of type string or code")
	}
	this, ok := v.Doc().Get("this")
	if !ok {
		return nil, mongoerr.New(31223, "$_internalJsEmit requires 'this' to be specified")
	}
	n, err := p.operand(this)
	return &emit{code.Clone().Str(), n}, err
}

func (e *emit) eval(env *Env) (value.Value, error) {
	this, err := e.this.eval(env)
	if err != nil {
		return value.Value{}, err
	}
	if this.Kind() != value.KindDocument {
		return value.Value{}, mongoerr.New(31225, "'this' must be an object.")
	}
	return env.Script(false).Emits(e.code, this.Doc())
}

func (e *emit) deps(d *depSink) {
	e.this.deps(d)
	dependsOnScript(d, "$_internalJsEmit")
}

func (e *emit) serial() value.Value {
	d := value.NewDoc("eval", value.String(e.code), "this", e.this.serial())
	return value.Document(value.NewDoc("$_internalJsEmit", value.Document(d)))
}
