package main

import (
	"fmt"
	"io"
	"os"
	"runtime"

	"golang.org/x/term"
)

// standardInput is standard input. Whoever sits at a terminal is asked to type, unless bytes are
// wanted: what they are is named then, and standard input refused.
func standardInput(bytes string) (io.Reader, error) {
	switch {
	case !term.IsTerminal(int(os.Stdin.Fd())):
		return os.Stdin, nil
	case bytes != "":
		return nil, usageError{fmt.Errorf("%s is not read from a terminal: redirect standard input from a file", bytes)}
	}
	return &typed{}, nil
}

// typed is what somebody types. It ends once, while a terminal goes on after each end.
type typed struct {
	invited bool
	err     error
}

// invitation is what the typist reads first, because nothing else happens.
var invitation = "reading documents from this terminal; end them with " + map[bool]string{true: "Ctrl-Z and Enter", false: "Ctrl-D"}[runtime.GOOS == "windows"]

func (t *typed) Read(p []byte) (n int, err error) {
	if !t.invited {
		t.invited = true
		fmt.Fprintln(os.Stderr, invitation)
	}
	if t.err == nil {
		n, t.err = os.Stdin.Read(p)
	}
	return n, t.err
}
