package main

import (
	"fmt"
	"io"
	"os"
	"runtime"

	"golang.org/x/term"
)

// standardInput returns standard input. A terminal asks its user to type documents. bytes names
// what the caller reads if it is not text, such as "a backup": then a terminal is refused.
func standardInput(bytes string) (io.Reader, error) {
	switch {
	case !term.IsTerminal(int(os.Stdin.Fd())):
		return os.Stdin, nil
	case bytes != "":
		return nil, usageError{fmt.Errorf("%s is not read from a terminal: redirect standard input from a file", bytes)}
	}
	return &typed{}, nil
}

// typed is what somebody types at the terminal. It stays at its first end; a terminal can be read
// again after each.
type typed struct {
	invited bool
	err     error
}

// invitation returns the line that the first read prints: otherwise the program would just seem to
// hang.
func invitation() string {
	end := "Ctrl-D"
	if runtime.GOOS == "windows" {
		end = "Ctrl-Z and Enter"
	}
	return "reading documents from this terminal; end them with " + end
}

func (t *typed) Read(p []byte) (n int, err error) {
	if !t.invited {
		t.invited = true
		fmt.Fprintln(os.Stderr, invitation())
	}
	if t.err == nil {
		n, t.err = os.Stdin.Read(p)
	}
	return n, t.err
}
