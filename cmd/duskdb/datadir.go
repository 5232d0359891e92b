package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/duskdb/duskdb/server"
)

// defaultDir is the data directory of a server to which nobody has named another.
const defaultDir = "duskdb-data"

// dir is the data directory; a server whose data are in a database has none.
func (s *serveCmd) dir() string {
	if s.Mongod.StorageEngine == "postgres" || s.Mongod.StorageURI != "" {
		return server.Memory
	}
	return s.DBPath
}

// checkDir says that the server is going to make its data directory: a path that is misspelt, or
// on a disk that is not mounted, looks like a server that has lost its data. It refuses a path
// whose parent is missing as well, in the words with which mongod refuses each missing directory.
func (s *serveCmd) checkDir(r *instance) error {
	if s.dir() == server.Memory {
		return nil
	}
	if _, err := os.Stat(s.DBPath); !errors.Is(err, fs.ErrNotExist) {
		return nil // opening it says what is wrong
	}
	path, err := filepath.Abs(s.DBPath)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) {
		return usageError{fmt.Errorf("Data directory %s not found, and its parent is missing, too. Create the missing directory or specify another path using (1) the --dbpath command line option, or (2) by adding the 'storage.dbPath' option in the configuration file", path)}
	}
	line := r.log.Info()
	if s.DBPath != defaultDir {
		line = r.log.Warn()
		r.tell("there is no directory " + path + ": the server makes it, and begins without data")
	}
	line.Str("dbpath", path).Msg("Making a new, empty data directory")
	return nil
}

// tell prints a line that is in the log as well, unless the log is on the same stderr.
func (r *instance) tell(text string) {
	if r.file != nil {
		tell("%s", text)
	}
}
