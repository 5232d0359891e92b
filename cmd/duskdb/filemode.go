package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
)

// ownerOnly is the umask with which files are their owner's alone.
const ownerOnly = 0o077

// protectFiles keeps what the server writes from other users of the machine, as
// mongod does whatever the umask is that it was started with: unless the
// parameter honorSystemUmask says that this one counts, or processUmask gives
// another for the group and others. It returns the mode of the data's files.
func protectFiles(params map[string]string) (os.FileMode, error) {
	honor := false
	if text, given := params["honorSystemUmask"]; given {
		var err error
		if honor, err = strconv.ParseBool(text); err != nil {
			return 0, fmt.Errorf("honorSystemUmask: %w", err)
		}
	}
	mask := ownerOnly
	text, given := params["processUmask"]
	switch {
	case given && honor:
		return 0, errors.New("--setParameter processUmask cannot be used together with honorSystemUmask")
	case given:
		bits, err := strconv.ParseUint(text, 8, 32)
		if err != nil || bits > 0o777 {
			return 0, fmt.Errorf("processUmask must be an octal number from 0 to 0777, not %q", text)
		}
		mask = int(bits) & ownerOnly // what the owner may do is up to the system
	case honor:
		return 0o666 &^ os.FileMode(systemUmask()), nil
	}
	setUmask(mask)
	return 0o666 &^ os.FileMode(mask), nil
}
