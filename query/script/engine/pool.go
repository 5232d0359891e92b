package engine

import (
	_ "embed"
	"fmt"
	"sync"

	"modernc.org/quickjs"

	"github.com/duskdb/duskdb/clock"
)

//go:embed codec.js
var codec string

// Pool creates scopes with the same initial state.
type Pool struct {
	prelude string
	budget  *Budget
	clock   clock.Clock

	once  sync.Once
	codes [][]byte // what each scope runs first, compiled
	err   error
}

// NewPool makes a pool whose scopes have run the prelude. The clock is the one
// by which the hosts of running scripts are asked whether to go on.
func NewPool(prelude string, budget *Budget, c clock.Clock) *Pool {
	return &Pool{prelude: prelude, budget: budget, clock: c}
}

// compile translates what each scope runs first.
func (p *Pool) compile() {
	vm, err := quickjs.NewVM()
	if err != nil {
		p.err = err
		return
	}
	defer vm.Close()
	for _, text := range []string{codec, p.prelude} {
		code, err := vm.Compile(text, quickjs.EvalGlobal)
		if err != nil {
			p.err = fmt.Errorf("the prelude of scripts: %w", err)
			return
		}
		p.codes = append(p.codes, code)
	}
}

// mostCalls is how deep scripts may nest calls. The engine asks whether to go on
// at every ten thousandth call, and a call that fails of its depth takes a time
// that grows with it: the deeper, the later a hostile script is stopped.
const mostCalls = 1000

// Open returns a new scope.
func (p *Pool) Open(host Host) (*Scope, error) {
	if p.once.Do(p.compile); p.err != nil {
		return nil, p.err
	}
	vm, err := quickjs.NewVM()
	if err != nil {
		return nil, ErrMemory
	}
	s := &Scope{host: host, vm: vm, budget: p.budget}
	s.watch = watch{clock: p.clock, interrupt: vm.Interrupt, poll: host.Poll}
	if err := s.prepare(p.codes); err != nil {
		p.Close(s)
		return nil, err
	}
	return s, nil
}

// prepare runs what each scope begins with, and takes its functions.
func (s *Scope) prepare(codes [][]byte) error {
	s.vm.SetCanBlock(false)
	s.vm.SetMaxStackSize(mostCalls)
	if err := s.vm.RegisterHostFunc("$ask", s.ask); err != nil {
		return err
	}
	for _, code := range codes {
		v, err := s.run(func() (quickjs.Value, error) { return s.vm.EvalBytecodeValue(code) })
		if err != nil {
			return failure(err)
		}
		v.Free()
	}
	for _, f := range []struct {
		name string
		to   *quickjs.Value
	}{{"fn", &s.fn}, {"set", &s.set}, {"call", &s.call}} {
		v, err := s.run(func() (quickjs.Value, error) { return s.vm.EvalValue("$entry."+f.name, quickjs.EvalGlobal) })
		if err != nil {
			return failure(err)
		}
		*f.to = v
	}
	return s.Run("delete globalThis.$entry")
}

// Close ends a scope.
func (p *Pool) Close(s *Scope) {
	s.budget.giveBack(s.taken)
	s.taken, s.broken = 0, true
	defer func() {
		_ = recover() // of an engine that broke down; its memory is lost
	}()
	for _, f := range []*quickjs.Value{&s.fn, &s.set, &s.call} {
		f.Free()
	}
	_ = s.vm.Close()
}
