package pebble

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// What the start cuts off the last log because it is damaged is kept beside the marker: it may
// have commits that can be read by hand.

// asideName begins the names of such files; the number of the log follows.
const asideName = markerName + ".damaged-"

// What is kept: the beginning of each end, of the newest logs.
const (
	maxAsideBytes = 64 << 20
	maxAside      = 4
)

// keepLost keeps what Pebble will cut off, and says what is lost and where that is.
func (j *journal) keepLost(dir string, mode os.FileMode) string {
	log := j.logs[len(j.logs)-1]
	switch path, err := setAside(dir, log, mode); {
	case err != nil:
		return fmt.Sprintf("%s; what %s had behind byte %d could not be kept: %v", j.lost, log.name, log.end, err)
	case path != "":
		return fmt.Sprintf("%s; what %s had behind byte %d is kept in %s", j.lost, log.name, log.end, path)
	}
	return j.lost
}

// setAside keeps what a log has from a byte on, and returns the path of the file; "" if there is
// nothing.
func setAside(dir string, log foundLog, mode os.FileMode) (path string, err error) {
	f, err := os.Open(filepath.Join(dir, filesName, log.name))
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.NewSectionReader(f, int64(log.end), maxAsideBytes))
	if b = bytes.TrimRight(b, "\x00"); err != nil || len(b) == 0 { // a file may have room behind its end
		return "", err
	}
	path = filepath.Join(dir, asideName+fmt.Sprintf("%06d", log.number))
	if err := writeSynced(path, b, mode); err != nil {
		return "", errors.Join(err, os.Remove(path))
	}
	old := asides(dir)
	for _, path := range old[:max(len(old)-maxAside, 0)] {
		err = errors.Join(err, os.Remove(path))
	}
	return path, errors.Join(err, syncDir(dir))
}

// asides are the files that are kept, the oldest first.
func asides(dir string) (paths []string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), asideName) {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	slices.SortFunc(paths, func(a, b string) int { // by their numbers
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	return paths
}
