package script

import (
	"errors"
	"runtime"
	"time"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/script/engine"
	"github.com/duskdb/duskdb/value"
)

// Stored is a function or value of system.js.
type Stored struct {
	Name  string
	Value value.Value
}

// Setup is the context in which the functions of an operation run.
type Setup struct {
	// Interrupt returns an error when the operation has to end; nil: never.
	Interrupt func() error
	// Done is closed then, to wake sleeping scripts.
	Done func() <-chan struct{}
	// Stored reads the stored functions; nil if there are no stored functions.
	Stored func() ([]Stored, error)
	// Globals are further global variables.
	Globals value.Doc
}

// Operation is the scope of one operation. It is for one goroutine at a time.
type Operation struct {
	engine  *Engine
	setup   Setup
	scope   *engine.Scope
	host    *host
	cleanup runtime.Cleanup
	handles map[Function]int
	started time.Time // the start of the running function

	compiling bool // it only parses functions
}

// host connects the scope to its operation. It is empty while no function
// runs, so that an operation that was not closed can be garbage collected.
type host struct{ *Operation }

// Operation returns a new operation; its scope is created by the first
// function.
func (e *Engine) Operation(s Setup) *Operation { return &Operation{engine: e, setup: s} }

// Close frees the scope. The next function creates a new one.
func (o *Operation) Close() {
	if o == nil || o.scope == nil {
		return
	}
	o.cleanup.Stop()
	o.engine.pool.Close(o.scope)
	o.scope, o.handles = nil, nil
}

// Test calls a function on a document, which is this and obj, and reports
// whether what it returns is truthy.
func (o *Operation) Test(f *Function, d value.Doc) (bool, error) {
	defer o.rest()
	h, err := o.handle(*f)
	if err != nil {
		return false, err
	}
	ok, err := o.scope.Test(h, d)
	return ok, o.failure(err)
}

// Call compiles and calls a function; self may be nil.
func (o *Operation) Call(source string, self value.Doc, args ...value.Value) (value.Value, error) {
	return o.wrapped(source, engine.Plain, self, args...)
}

// CallOn is Call with a document that is this and the variable obj.
func (o *Operation) CallOn(source string, d value.Doc) (value.Value, error) {
	if o == nil || !o.engine.Enabled() {
		return value.Value{}, ErrDisabled
	}
	f, err := o.engine.Compile(source, o.setup.Interrupt)
	if err != nil {
		return value.Value{}, err
	}
	return o.call(Function{text: "function() { obj = this; return (" + f.text + ").call(this) }"}, d, nil)
}

// Emits calls a map function on a document and returns the array of what it
// has emitted, as {k, v}.
func (o *Operation) Emits(source string, self value.Doc) (value.Value, error) {
	return o.wrapped(source, engine.Emits, self)
}

// Fold calls accumulate(state, ...args) for each array of arguments in calls,
// or merge(state, other) for each other.
func (o *Operation) Fold(source string, merge bool, state, calls value.Value) (value.Value, error) {
	w := engine.Fold
	if merge {
		w = engine.Merge
	}
	return o.wrapped(source, w, nil, state, calls)
}

func (o *Operation) wrapped(source string, w engine.Wrap, self value.Doc, args ...value.Value) (value.Value, error) {
	if o == nil || !o.engine.Enabled() {
		return value.Value{}, ErrDisabled
	}
	f, err := o.engine.Compile(source, o.setup.Interrupt)
	if err != nil {
		return value.Value{}, err
	}
	return o.call(Function{f.text, w}, self, args)
}

// call runs a function in the scope within the limits of time and memory, and
// converts its result.
func (o *Operation) call(f Function, self value.Doc, args []value.Value) (value.Value, error) {
	defer o.rest()
	h, err := o.handle(f)
	if err != nil {
		return value.Value{}, err
	}
	var list value.Doc
	if len(args) > 0 {
		var a value.ArrayBuilder
		for _, v := range args {
			a.Append(v)
		}
		list = a.Value().Doc()
	}
	b, err := o.scope.Call(h, self, list)
	if err != nil {
		return value.Value{}, o.failure(err)
	}
	if err := value.Validate(b); err != nil {
		return value.Value{}, mongoerr.Newf(mongoerr.InvalidBSON, "Invalid BSON returned from JavaScript function :: caused by :: %w", err)
	}
	_, v := value.Doc(b).Clone().First()
	return v, nil
}

// handle evaluates a function in the scope, once.
func (o *Operation) handle(f Function) (int, error) {
	if err := o.open(); err != nil {
		return 0, err
	}
	h, ok := o.handles[f]
	if ok {
		return h, nil
	}
	h, err := o.scope.Function("("+f.text+")", f.wrap)
	if err != nil {
		return 0, o.failure(err)
	}
	o.handles[f] = h
	return h, nil
}

// open creates the scope if necessary, and prepares it for a function.
func (o *Operation) open() error {
	o.started = o.engine.real.Now()
	if o.scope != nil {
		o.host.Operation = o
		return nil
	}
	h := &host{o}
	s, err := o.engine.pool.Open(h, o.engine.heapLimit())
	if err != nil {
		return o.failure(err)
	}
	o.scope, o.host, o.handles = s, h, map[Function]int{}
	// An operation that was not closed is freed with its scope.
	o.cleanup = runtime.AddCleanup(o, o.engine.pool.Close, s)
	return o.populate()
}

// rest cleans up after a function.
func (o *Operation) rest() {
	if o.host != nil {
		o.host.Operation = nil
	}
}

// populate sets the global variables besides the prelude's.
func (o *Operation) populate() error {
	var stored []Stored
	if o.setup.Stored != nil {
		var err error
		if stored, err = o.setup.Stored(); err != nil {
			return err
		}
	}
	for _, s := range stored {
		// It skips stored functions that cannot be loaded, because scripts may not
		// need them.
		if err := o.scope.Set(value.NewDoc(s.Name, s.Value)); errors.Is(err, engine.ErrBroken) || errors.Is(err, engine.ErrMemory) {
			return o.failure(err)
		}
	}
	for name, v := range o.setup.Globals.All() {
		if err := o.scope.Set(value.NewDoc(name, v)); err != nil {
			return o.failure(err)
		}
	}
	return nil
}

func (o *Operation) compile(source string) (*Function, error) {
	defer o.rest()
	if err := o.open(); err != nil {
		return nil, err
	}
	text, err := normalize(o.scope, source)
	if err == nil {
		err = o.scope.Parses("(" + text + ")")
	}
	if err != nil {
		return nil, o.failure(err)
	}
	return &Function{text: text}, nil
}
