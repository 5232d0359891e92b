package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/duskdb/duskdb/internal/engines"
)

// tempName is the directory within the data directory to which sorts, groups
// and windows spill.
const tempName = "_tmp"

// inMemory reports whether the server keeps no data on disk.
func (c *Config) inMemory() bool { return c.DBPath == "" || c.DBPath == Memory }

// directoryMode is the mode of a new data directory.
func (c *Config) directoryMode() os.FileMode {
	if c.FileMode == 0 {
		return 0o700
	}
	return c.FileMode | c.FileMode&0o444>>2
}

// makeDataDir makes the data directory, and refuses one that the engine cannot use before anything is
// written into it. undo removes what was made, unless something is in it.
func (s *Server) makeDataDir() (undo func(), err error) {
	dir, undo := s.config.DBPath, func() {}
	if s.config.inMemory() {
		return undo, nil
	}
	if err := engines.Usable(s.config.engineName(), dir); err != nil {
		return nil, err
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		undo = func() { _ = os.Remove(dir) }
	}
	if err := os.MkdirAll(dir, s.config.directoryMode()); err != nil {
		return nil, fmt.Errorf("cannot make the data directory: %w", err)
	}
	return undo, nil
}

// tempDir creates or empties the directory for spilled data. It is called
// after the data directory has been locked, so no other running server uses
// it.
func (s *Server) tempDir() (string, error) {
	if s.config.inMemory() {
		return os.TempDir(), nil
	}
	dir := filepath.Join(s.config.DBPath, tempName)
	if err := os.RemoveAll(dir); err != nil {
		return "", fmt.Errorf("cannot empty the directory of temporary files: %w", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", fmt.Errorf("cannot create the directory of temporary files: %w", err)
	}
	return dir, nil
}
