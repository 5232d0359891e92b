package pebble

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/datadir"
)

// The data directory has a file that names the engine and the format, and a
// directory for Pebble's own files.
const (
	markerName = datadir.Pebble
	filesName  = "pebble"
)

// formatPrefix begins the content of the marker; the number of the format and a
// line feed follow.
const formatPrefix = "duskdb-pebble-"

// newestFormat is the format that this version writes. It reads older ones, and
// what it adds to them is of the newest:
//
//	2  unique indexes have one row for each key, with the id as its value
const newestFormat = 2

// openDirectory checks, makes and locks the data directory.
func openDirectory(dir string, mode os.FileMode) (lock *os.File, err error) {
	if err := checkMarker(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, datadir.Mode(mode)); err != nil {
		return nil, err
	}
	if lock, err = datadir.Lock(dir); err != nil {
		return nil, err
	}
	if err := prepare(dir, mode); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// prepare makes what a new directory needs: first the directory of the tables, then the
// marker. So a marker without the tables means that they were removed.
func prepare(dir string, mode os.FileMode) error {
	tables := filepath.Join(dir, filesName)
	_, marked := os.Stat(filepath.Join(dir, markerName))
	if _, err := os.Stat(tables); marked == nil && errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s says that there are data of DuskDB in %s, which does not exist: restore that directory, or remove %s to begin with no data",
			filepath.Join(dir, markerName), tables, markerName)
	}
	if err := os.MkdirAll(tables, datadir.Mode(mode)); err != nil {
		return err
	}
	return writeMarker(dir, mode)
}

// checkMarker refuses data without a marker, which comes last when data are copied, and a
// format that is not known.
func checkMarker(dir string) error {
	format, err := readMarker(dir)
	if err != nil || format != 0 {
		return err
	}
	tables := filepath.Join(dir, filesName)
	entries, err := os.ReadDir(tables)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), "marker.manifest.") }) {
		return err
	}
	note, err := readNote(tables)
	if err != nil {
		return err
	}
	return fmt.Errorf("%s is missing, and there are data in %s: they are a copy that was not finished, or the file was removed; copy them once more, or, if they are complete, %s. Nothing was changed",
		filepath.Join(dir, markerName), tables, wayOut(note.format))
}

// readMarker returns the format, 0 if there is no marker. The note beside the logs says the
// format too, so a marker that is damaged is not taken for one of a newer version.
func readMarker(dir string) (format int, err error) {
	path := filepath.Join(dir, markerName)
	note, err := readNote(filepath.Join(dir, filesName))
	if err != nil {
		return 0, err
	}
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	number, ok := strings.CutPrefix(strings.TrimSuffix(string(b), "\n"), formatPrefix)
	switch format, err = strconv.Atoi(number); {
	case !ok || err != nil || format < 1:
		return 0, fmt.Errorf("%s is damaged: it names no format of DuskDB, but says %.40q; %s. Nothing was changed", path, strings.TrimSpace(string(b)), wayOut(note.format))
	case note.format != 0 && format > note.format:
		return 0, fmt.Errorf("%s is damaged: it says %.40q, and the data in %s have format %d; %s. Nothing was changed",
			path, strings.TrimSpace(string(b)), filepath.Join(dir, filesName), note.format, wayOut(note.format))
	case format > newestFormat:
		return 0, &storage.NewerFormatError{Where: path, Format: int64(format), Newest: newestFormat, Version: storage.WrittenBy(dir)}
	}
	return format, nil
}

// wayOut says how to get a marker back.
func wayOut(format int) string {
	if format == 0 {
		return "restore the file from a backup"
	}
	return fmt.Sprintf("restore the file, which is one line: %s%d", formatPrefix, format)
}

// writeMarker writes the marker if it is not there, or of an older format, so
// that an older version does not read what this one writes.
func writeMarker(dir string, mode os.FileMode) error {
	path := filepath.Join(dir, markerName)
	if format, err := readMarker(dir); err != nil || format == newestFormat {
		return err
	}
	temp := path + ".new"
	if err := writeSynced(temp, fmt.Appendf(nil, "%s%d\n", formatPrefix, newestFormat), mode); err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	return syncDir(dir)
}

// writeSynced writes a file, which is on disk when it returns.
func writeSynced(path string, b []byte, mode os.FileMode) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
