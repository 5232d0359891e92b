package server

import (
	"fmt"
	"os"
	"path/filepath"
)

// tempName is the directory within the data directory where sorts, groups and
// windows put what does not fit into memory.
const tempName = "_tmp"

// inMemory reports whether the server keeps no data on disk.
func (c *Config) inMemory() bool { return c.DBPath == "" || c.DBPath == Memory }

// directoryMode is the mode of a data directory that is made.
func (c *Config) directoryMode() os.FileMode {
	if c.FileMode == 0 {
		return 0o700
	}
	return c.FileMode | c.FileMode&0o444>>2
}

// makeDataDir makes the data directory.
func (s *Server) makeDataDir() error {
	if s.config.inMemory() {
		return nil
	}
	if err := os.MkdirAll(s.config.DBPath, s.config.directoryMode()); err != nil {
		return fmt.Errorf("cannot create the data directory: %w", err)
	}
	return nil
}

// tempDir makes the place for what spills, empty. It is called once the data
// directory is locked: what is in there is of no other server that still runs.
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
