package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"

	"modernc.org/quickjs"
)

// Question is the number of a function of the host. The numbers are those of
// the prelude.
type Question int

// The questions.
const (
	Print   Question = 1 + iota // text, to the log
	Sleep                       // milliseconds in decimal digits
	MD5                         // of bytes; the answer is in hexadecimal digits
	Parse                       // a decimal number; the answer are its 16 bytes in hexadecimal digits
	Format                      // 16 bytes in hexadecimal digits; the answer is the number
	Compare                     // {"0": v, "1": w}; the answer is negative, 0 or positive
	Random                      // the answer is an ObjectId, or for "uuid" 16 bytes, in hexadecimal digits
	Size                        // {"0": document}; the answer is its size
	Version                     // the answer is the version of the server
	now                         // the answer are milliseconds since 1970
)

// Host has the functions that a scope may call.
type Host interface {
	// Poll returns an error when the script has to stop. It is called while the
	// script runs, from another goroutine, but never beside Ask.
	Poll() error
	// Ask answers a question with bytes or, without bytes, with a number; a
	// negative one is a refusal. An error stops the script. The question is
	// valid until Ask returns.
	Ask(q Question, question []byte) (answer []byte, result int, err error)
	// Now is the time in nanoseconds since 1970.
	Now() int64
}

// Thrown is an exception that no script has caught.
type Thrown struct {
	Code    int    // of errors of the engine's host side, otherwise 0
	Text    string // the exception as a string
	Message string // of an Error
	IsError bool   // it is an Error
	Stack   string // where, in the engine's form
}

// Error returns the exception as a string.
func (t *Thrown) Error() string { return t.Text }

// ErrMemory is the error of a scope that has exceeded its memory.
var ErrMemory = errors.New("out of memory")

// ErrBroken is the error of a scope whose engine has failed. It cannot be used
// any more.
var ErrBroken = errors.New("the JavaScript engine failed")

// Scope is one engine with one set of global variables. It is for one
// goroutine at a time.
type Scope struct {
	host   Host
	vm     *quickjs.VM
	watch  watch
	broken bool
	budget *Budget
	taken  int64 // of the budget

	fn, set, call quickjs.Value // of $entry
}

// run calls the engine. A fault of the engine, which is a panic or a bad address
// of memory, ends the scope.
func (s *Scope) run(f func() (quickjs.Value, error)) (v quickjs.Value, err error) {
	if s.broken {
		return v, ErrBroken
	}
	faults := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(faults)
	defer func() {
		if p := recover(); p != nil {
			s.broken = true
			_ = s.watch.end()
			v, err = quickjs.UndefinedValue, fmt.Errorf("%w: %v", ErrBroken, p)
		}
	}()
	s.watch.begin()
	v, err = f()
	if stopped := s.watch.end(); stopped != nil {
		if err == nil {
			v.Free()
		}
		s.broken = true // what was interrupted may be half done
		return quickjs.UndefinedValue, stopped
	}
	return v, err
}

// ask is the function of the host that scripts have.
func (s *Scope) ask(args []any) (any, error) {
	if err := s.watch.end(); err != nil {
		return nil, err
	}
	defer s.watch.begin()
	if len(args) != 2 {
		return nil, nil
	}
	q, _ := args[0].(int)
	text, _ := args[1].(string)
	if Question(q) == now {
		return strconv.FormatInt(s.host.Now()/1e6, 10), nil
	}
	answer, result, err := s.host.Ask(Question(q), octets(text))
	switch {
	case err != nil:
		s.watch.stop(err)
		return nil, err
	case len(answer) > 0:
		return latin(answer), nil
	case result < 0 && Question(q) != Compare:
		return nil, nil
	}
	return strconv.Itoa(result), nil
}

// SetLimit sets how many bytes the scope may take. It gets what the budget has.
func (s *Scope) SetLimit(bytes int64) error {
	s.budget.giveBack(s.taken)
	s.taken = s.budget.take(bytes)
	s.vm.SetMemoryLimit(uintptr(s.taken))
	return nil
}

// Run runs a script.
func (s *Scope) Run(text string) error {
	v, err := s.run(func() (quickjs.Value, error) { return s.vm.EvalValue(text, quickjs.EvalGlobal) })
	if err == nil {
		v.Free()
	}
	return failure(err)
}

// Parses returns the error of a script that is not well-formed.
func (s *Scope) Parses(text string) error {
	_, err := s.run(func() (quickjs.Value, error) {
		_, err := s.vm.Compile(text, quickjs.EvalGlobal)
		return quickjs.UndefinedValue, err
	})
	return failure(err)
}

// failure is an error of the engine that no script could catch.
func failure(err error) error {
	var e *quickjs.Error
	if !errors.As(err, &e) {
		return err
	}
	if e.Name == "InternalError" && e.Message == "out of memory" || e.Name == "" && e.Message == "" {
		return ErrMemory
	}
	return &Thrown{Text: e.Name + ": " + e.Message, Message: e.Message, IsError: true, Stack: e.Stack}
}

// enter calls a function of $entry. Its reply begins with a letter; E stands
// for an exception.
func (s *Scope) enter(f quickjs.Value, args ...any) (letter byte, rest string, err error) {
	v, err := s.run(func() (quickjs.Value, error) { return f.CallValue(quickjs.UndefinedValue, args...) })
	if err != nil {
		return 0, "", failure(err)
	}
	defer v.Free()
	reply, err := v.Any()
	if err != nil {
		return 0, "", failure(err)
	}
	text, _ := reply.(string)
	if text == "" {
		return 0, "", nil
	}
	if text[0] == 'E' {
		return 0, "", thrown(octets(text[1:]))
	}
	return text[0], text[1:], nil
}

// Function evaluates an expression that is a function, for Call.
func (s *Scope) Function(text string) (handle int, err error) {
	_, rest, err := s.enter(s.fn, text)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(rest)
}

// Set makes a global variable of the first field of a document.
func (s *Scope) Set(d []byte) error {
	_, _, err := s.enter(s.set, latin(d))
	return err
}

// Test calls a function on a document, which is both this and the variable
// obj, and reports whether the result is truthy.
func (s *Scope) Test(handle int, self []byte) (bool, error) {
	letter, _, err := s.enter(s.call, handle, bytesOrNull(self), nil, true)
	return letter == 'T', err
}

// Call calls a function with this (nil: none) and a document of arguments.
// The result is the document {"": value}.
func (s *Scope) Call(handle int, self, args []byte) ([]byte, error) {
	_, rest, err := s.enter(s.call, handle, bytesOrNull(self), bytesOrNull(args), false)
	if err != nil {
		return nil, err
	}
	d := octets(rest)
	if len(d) < 5 || binary.LittleEndian.Uint32(d) != uint32(len(d)) {
		return nil, ErrMemory
	}
	return d, nil
}

func bytesOrNull(d []byte) any {
	if d == nil {
		return nil
	}
	return latin(d)
}
