package server

import (
	"fmt"

	"github.com/duskdb/duskdb/commands"
	"github.com/duskdb/duskdb/storage/bunt"
)

// Report is what Check found in a data directory.
type Report = bunt.Report

// compactFrom is the least size in bytes at which the log is compacted in the
// background. Compacting a small log that is mostly garbage is quick.
const compactFrom = 8 << 20

// open opens the engine. It syncs and compacts by the system's clock: a test
// clock that stands still must not keep the data from reaching the disk. It
// returns warnings for the operator.
func (s *Server) open(path string) (warnings []string, err error) {
	engine, err := bunt.Open(bunt.Options{
		Path: path, Indexer: commands.NewIndexer(), Repair: s.config.Repair, CompactMinBytes: compactFrom, FileMode: s.config.FileMode, Fault: s.config.fault,
		OrphanIndexes: commands.OrphanIndexes(), Progress: s.opening.reading, Indexing: s.opening.indexing,
		Logger: func(format string, args ...any) { s.log.Warn().Msgf(format, args...) },
	})
	if err != nil {
		return nil, err
	}
	if r := engine.Repaired(); r != nil {
		warnings = append([]string{r.String()}, r.Details()...)
		s.repaired = warnings
	}
	s.engine = engine
	return warnings, nil
}

// Repaired describes, in lines of text, what Config.Repair salvaged and what
// is lost; nil if the data needed no repair.
func (s *Server) Repaired() []string { return s.repaired }

// Check reads a data directory, or a backup, that no server uses, without
// changing it: the frames and checksums of the log, every document, and
// whether the indexes can be made.
func Check(dbPath string) (*Report, error) { return bunt.Check(dbPath, commands.NewIndexer()) }

// Restore checks a backup and copies it to a data directory, which must be
// empty or missing.
func Restore(backup, dbPath string) (*Report, error) {
	r, err := bunt.Restore(backup, dbPath, commands.NewIndexer())
	if err != nil {
		return r, fmt.Errorf("restore %s: %w", backup, err)
	}
	return r, nil
}
