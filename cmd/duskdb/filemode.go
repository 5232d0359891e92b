package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
)

// ownerOnly is the umask that gives permissions only to the owner.
const ownerOnly = 0o077

// protectFiles sets the umask so that other users of the machine cannot read
// the server's files, as mongod does: the system's umask applies only with the
// parameter honorSystemUmask, and processUmask sets another one for the group
// and others. It returns the mode of the data files.
func protectFiles(params map[string]string) (os.FileMode, error) {
	honor := false
	if text, given := params["honorSystemUmask"]; given {
		var err error
		if honor, err = strconv.ParseBool(text); err != nil {
			return 0, fmt.Errorf("the parameter honorSystemUmask must be true or false but got %q", text)
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
