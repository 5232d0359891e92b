package bunt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/duskdb/duskdb/storage"
)

// newestFormat is the format that formatName names.
const newestFormat = 4

// formatPrefix begins the names of all formats; a number and a line feed
// follow.
const formatPrefix = "duskdb-bunt-"

// checkFormat refuses a log of a newer format. Every format has its name in
// the first bytes.
func checkFormat(f io.ReaderAt, path string) error {
	begin := make([]byte, tornHeader)
	n, err := f.ReadAt(begin, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	_, rest, ok := bytes.Cut(begin[:n], []byte(formatPrefix))
	number, _, ended := bytes.Cut(rest, []byte("\n"))
	if !ok || !ended {
		return nil
	}
	format, err := strconv.ParseInt(string(number), 10, 64)
	switch {
	case err != nil:
		return nil
	case format > newestFormat:
		return newerFormat(path, format)
	case format < newestFormat:
		return fmt.Errorf("%s has format %d, which only the development version that wrote it reads", path, format)
	}
	return nil
}

// newerFormat is the error of a file that a newer version wrote.
func newerFormat(path string, format int64) error {
	return &storage.NewerFormatError{Where: path, Format: format, Newest: newestFormat, Version: storage.WrittenBy(filepath.Dir(path))}
}

// statePrefix begins the content of a state file of any format.
const statePrefix = "duskdb-state-"

// checkState refuses a state file of a newer format: the log that belongs to it may have
// another name.
func checkState(text, path string) error {
	rest, ok := strings.CutPrefix(text, statePrefix)
	number, _, ended := strings.Cut(rest, "\n")
	format, err := strconv.ParseInt(number, 10, 64)
	if !ok || !ended || err != nil || format <= newestState {
		return nil
	}
	return &storage.NewerFormatError{Where: path, Format: format, Newest: newestState, Version: storage.WrittenBy(filepath.Dir(path))}
}

// newestState is the format of the state file.
const newestState = 1
