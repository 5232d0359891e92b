package bunt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// FormatError reports a log of a format that this version does not know.
type FormatError struct {
	Path   string
	Format int // of the log
}

// newestFormat is the format that formatName names.
const newestFormat = 3

// Error says what is needed.
func (e *FormatError) Error() string {
	return fmt.Sprintf("%s has format %d, and this version reads formats up to %d: a newer version of DuskDB wrote it, and is needed to read it. The file was left as it is",
		e.Path, e.Format, newestFormat)
}

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
	if format, err := strconv.Atoi(string(number)); err == nil && format > newestFormat {
		return &FormatError{Path: path, Format: format}
	}
	return nil
}
