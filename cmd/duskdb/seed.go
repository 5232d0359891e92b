package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/internal/transfer"
	"github.com/duskdb/duskdb/server"
)

// seeds are the files that the first start on an empty data directory imports,
// before anyone can connect.
type seeds struct {
	dir      string
	files    []string
	database string
	marker   string // exists while seeds are imported; "" without a directory
}

// seedMarker is a file in the data directory that exists while files are
// imported: if a start finds it, an earlier import was not completed.
const seedMarker = "seeding"

// findSeeds checks, before the data is opened, whether there are files to
// import. The official image's MONGO_INITDB_DATABASE names the database.
func (s *serveCmd) findSeeds(log zerolog.Logger) (*seeds, error) {
	if s.InitDB == "" {
		return nil, nil
	}
	out := &seeds{dir: s.InitDB, database: "test"}
	if s.DBPath != server.Memory {
		out.marker = filepath.Join(s.DBPath, seedMarker)
		entries, err := os.ReadDir(s.DBPath)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == seedMarker }) {
			return nil, fmt.Errorf("an earlier start failed to import the files in %s: fix them, empty %s and start again", s.InitDB, s.DBPath)
		}
		if len(entries) > 0 {
			return nil, nil
		}
	}
	name, err := fromEnvironment("DATABASE")
	if err != nil {
		return nil, err
	}
	if name != "" {
		out.database = name
	}
	return out, out.list(log)
}

// list finds the files, in the order of their names. A directory that is
// missing has none.
func (s *seeds) list(log zerolog.Logger) error {
	entries, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return usageError{fmt.Errorf("--initdb: %w", err)}
	}
	for _, e := range entries {
		switch ext := strings.ToLower(filepath.Ext(e.Name())); {
		case e.IsDir():
		case slices.Contains([]string{".json", ".ndjson", ".jsonl", ".csv", ".tsv", ".bson"}, ext):
			s.files = append(s.files, e.Name())
		case ext == ".js" || ext == ".sh":
			log.Warn().Str("file", e.Name()).Msg("scripts are not run: the image has no shell; use .json files")
		}
	}
	return nil
}

// plant imports the files over a connection within the process.
func (s *seeds) plant(srv *server.Server, cfg *server.Config, log zerolog.Logger) error {
	if s == nil || len(s.files) == 0 {
		return nil
	}
	if s.marker != "" {
		if err := os.WriteFile(s.marker, nil, 0o600); err != nil {
			return err
		}
	}
	conn := transfer.NewConn(srv.Dial())
	defer conn.Close()
	if cfg.Auth {
		if cfg.RootUser == "" {
			return errors.New("--initdb needs a root user when clients must log in: set DUSKDB_ROOT_USERNAME and DUSKDB_ROOT_PASSWORD")
		}
		if err := conn.Login("admin", cfg.RootUser, cfg.RootPassword, ""); err != nil {
			return err
		}
	}
	for _, file := range s.files {
		n, err := s.load(conn, file)
		if err != nil {
			return fmt.Errorf("%s: %w", filepath.Join(s.dir, file), err)
		}
		log.Info().Str("file", file).Int("documents", n).Msg("file imported")
	}
	if s.marker != "" {
		return os.Remove(s.marker)
	}
	return nil
}

// load imports one file into the collection of its name.
func (s *seeds) load(conn *transfer.Conn, file string) (int, error) {
	in, err := os.Open(filepath.Join(s.dir, file))
	if err != nil {
		return 0, err
	}
	defer in.Close()
	form := importCmd{Type: typeOf(file)}
	source, err := form.source(in)
	if err != nil {
		return 0, err
	}
	collection, err := collectionOf(file, form.Type)
	if err != nil {
		return 0, err
	}
	var why error
	res, err := transfer.Import(conn, source, transfer.ImportOptions{
		Database: s.database, Collection: collection, StopOnError: true, OnError: func(err error) { why = err },
	})
	if why != nil {
		err = why
	}
	return res.Imported, err
}
