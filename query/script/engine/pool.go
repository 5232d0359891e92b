package engine

import (
	_ "embed"
	"fmt"
	"sync"

	"modernc.org/libquickjs"

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
	codes [][]byte // the compiled code that each scope runs first
	err   error
}

// NewPool makes a pool whose scopes have run the prelude. The clock is the one
// by which the hosts of running scripts are asked whether to go on.
func NewPool(prelude string, budget *Budget, c clock.Clock) *Pool {
	return &Pool{prelude: prelude, budget: budget, clock: c}
}

// compileBytes is the memory in which the prelude is compiled.
const compileBytes = 32 << 20

// compile translates what each scope runs first.
func (p *Pool) compile() {
	h, err := newHeap(compileBytes, &Budget{Limit: compileBytes})
	if err != nil {
		p.err = err
		return
	}
	m, err := newMachine(h, nil)
	defer m.discard()
	for _, text := range []string{codec, p.prelude} {
		var code []byte
		if err == nil {
			code, err = m.compile(text)
		}
		if err != nil {
			p.err = fmt.Errorf("the prelude of scripts: %w", err)
			return
		}
		p.codes = append(p.codes, code)
	}
}

// Open returns a new scope, which may take some bytes.
func (p *Pool) Open(host Host, limit int64) (*Scope, error) {
	if p.once.Do(p.compile); p.err != nil {
		return nil, p.err
	}
	h, err := newHeap(limit, p.budget)
	if err != nil {
		return nil, err
	}
	s := &Scope{host: host}
	if s.machine, err = newMachine(h, s.ask); err == nil {
		s.watch = watch{clock: p.clock, interrupt: s.machine.interrupt, seal: s.machine.seal, poll: host.Poll}
		err = s.prepare(p.codes)
	}
	if err != nil {
		p.Close(s)
		return nil, err
	}
	return s, nil
}

// prepare runs what each scope begins with, and takes its functions.
func (s *Scope) prepare(codes [][]byte) error {
	_, err := s.run(func() (string, error) {
		for _, code := range codes {
			if err := s.machine.load(code); err != nil {
				return "", err
			}
		}
		for _, f := range []struct {
			name string
			to   *libquickjs.TJSValue
		}{{"fn", &s.fn}, {"set", &s.set}, {"call", &s.call}} {
			v, err := s.machine.evaluate("$entry." + f.name)
			if err != nil {
				return "", err
			}
			*f.to = v
		}
		return "", s.machine.drop(s.machine.evaluate("delete globalThis.$entry"))
	})
	return err
}

// Close ends a scope.
func (p *Pool) Close(s *Scope) {
	if s.machine != nil {
		s.machine.discard()
	}
	s.machine, s.broken = nil, ErrBroken
}
