package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"strings"

	"modernc.org/libquickjs"
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
	Code    int    // the code of an error of the engine's host side, otherwise 0
	Text    string // the exception as a string
	Message string // the message of an Error
	IsError bool   // it is an Error
	Stack   string // the place, in the engine's form
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
	host    Host
	machine *machine
	watch   watch
	broken  error // why it cannot be used any more

	fn, set, call libquickjs.TJSValue // the parts of $entry
}

// run calls the engine. A fault of the engine, which is a panic or a bad address
// of memory, ends the scope; so does [watch], by such a fault, if a script does not
// stop.
func (s *Scope) run(f func() (string, error)) (v string, err error) {
	if s.broken != nil {
		return "", s.broken
	}
	faults := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(faults)
	defer func() {
		p := recover()
		if stopped := s.watch.end(); stopped != nil {
			s.broken = stopped // what was interrupted may be half done
		} else if p != nil {
			s.broken = fmt.Errorf("%w: %v", ErrBroken, p)
		}
		if s.broken != nil {
			v, err = "", s.broken
		}
	}()
	s.watch.begin()
	return f()
}

// ask is the function of the host that scripts have.
func (s *Scope) ask(question, text string) (answer string, ok bool, err error) {
	if err := s.watch.end(); err != nil {
		return "", false, err
	}
	defer s.watch.begin()
	q := number(question)
	if q == now {
		return strconv.FormatInt(s.host.Now()/1e6, 10), true, nil
	}
	b, result, err := s.host.Ask(q, octets(text))
	switch {
	case err != nil:
		s.watch.stop(err)
		return "", false, err
	case len(b) > 0:
		return latin(b), true, nil
	case result < 0 && q != Compare:
		return "", false, nil
	}
	return strconv.Itoa(result), true, nil
}

// Run runs a script.
func (s *Scope) Run(text string) error {
	_, err := s.run(func() (string, error) { return "", s.machine.drop(s.machine.evaluate(text)) })
	return err
}

// Parses returns the error of a script that is not well-formed.
func (s *Scope) Parses(text string) error {
	_, err := s.run(func() (string, error) { return "", s.machine.drop(s.machine.parse(text)) })
	return err
}

// enter calls a function of $entry. Its reply begins with a letter; E stands
// for an exception.
func (s *Scope) enter(f libquickjs.TJSValue, args ...any) (letter byte, rest string, err error) {
	text, err := s.run(func() (string, error) { return s.machine.call(f, args...) })
	if err != nil || text == "" {
		return 0, "", err
	}
	if text[0] == 'E' {
		err := thrown(octets(text[1:]))
		if s.machine.heap.denied && noError(err) {
			err = ErrMemory
		}
		return 0, "", err
	}
	return text[0], text[1:], nil
}

// noError reports whether a script has thrown nothing, as the engine does if there
// is no memory for an error.
func noError(err error) bool {
	var t *Thrown
	return errors.As(err, &t) && !t.IsError && (t.Text == "null" || t.Text == "[unsupported type]")
}

// Wrap is what the prelude makes of a function.
type Wrap int

// The wraps.
const (
	Plain Wrap = iota // nothing
	Emits             // it returns the array of what the function emits
	Fold              // it calls the function for the state and each array of arguments
	Merge             // it calls the function for the state and each other state
)

// Function evaluates an expression that is a function, for Call.
func (s *Scope) Function(text string, w Wrap) (handle int, err error) {
	_, rest, err := s.enter(s.fn, strings.ToValidUTF8(text, "\uFFFD"), int(w))
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
	letter, _, err := s.enter(s.call, handle, bytesOrNull(self), nil, 1)
	return letter == 'T', err
}

// Call calls a function with this (nil: none) and a document of arguments.
// The result is the document {"": value}.
func (s *Scope) Call(handle int, self, args []byte) ([]byte, error) {
	_, rest, err := s.enter(s.call, handle, bytesOrNull(self), bytesOrNull(args), 0)
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
