package server

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/duskdb/duskdb/commands"
	"github.com/duskdb/duskdb/internal/engines"
	"github.com/duskdb/duskdb/storage"
)

// Report is what Check found in a data directory.
type Report = storage.Report

// StorageEngines are the names of the engines that Config.StorageEngine can
// name in this program; the first is the default. "pebble" is among them if the
// program imports github.com/duskdb/duskdb/server/pebble.
func StorageEngines() []string { return engines.Names() }

// HasCache reports whether Config.CacheSize has an effect on an engine.
func HasCache(engine string) bool { return engines.HasCache(engine) }

// checkURI makes sure that the data are either in a database or in a directory. With
// a database the server keeps nothing on disk but temporary files.
func (s *Server) checkURI() error {
	c := &s.config
	switch name := c.engineName(); {
	case !engines.Remote(name) && c.StorageURI != "":
		return fmt.Errorf("storageURI is for the storage engine postgres; the engine is %s: add --storageEngine postgres", name)
	case engines.Remote(name) && c.StorageURI == "" && engines.TestURI == nil:
		return fmt.Errorf("the storage engine %s needs --storageURI or DUSKDB_STORAGE_URI, the address of its database: postgres://user:password@host/database", name)
	case engines.Remote(name) && c.StorageURI != "":
		c.DBPath = Memory
	}
	return nil
}

// compactFrom is the least size in bytes at which the log is compacted in the
// background. Compacting a small log that is mostly garbage is quick; while much is
// written, it may nevertheless grow to several times this size.
const compactFrom = 8 << 20

// engineName is the name of the engine of the data.
func (c *Config) engineName() string { return cmp.Or(c.StorageEngine, engines.Default) }

// defaultCache is the size of the cache of an engine that has one.
const defaultCache = 256 << 20

// cacheBytes is the size of the cache of an engine that has one.
func (c *Config) cacheBytes() (int64, error) {
	if c.CacheSize == "" {
		return defaultCache, nil
	}
	n, err := parseMemory(c.CacheSize, machineMemory())
	if err != nil || n <= 0 {
		return 0, fmt.Errorf("cacheSize must be bytes, such as 256MB, or a percentage, not %q", c.CacheSize)
	}
	return n, nil
}

// open opens the engine. It syncs and compacts by the system's clock: a test
// clock that stands still must not keep the data from reaching the disk. It
// returns warnings for the operator.
func (s *Server) open(path string) (warnings []string, err error) {
	cache, err := s.config.cacheBytes()
	if err != nil {
		return nil, err
	}
	name := s.config.engineName()
	s.log.Info().Str("storageEngine", name).Str("dbpath", path).Msg("Opening the storage engine")
	opened, err := engines.Open(name, engines.Options{
		Path: path, URI: s.config.StorageURI, CacheBytes: cache, FileMode: s.config.FileMode,
		Indexer: commands.NewIndexer(), OrphanIndexes: commands.OrphanIndexes(),
		Repair: s.config.Repair, CompactMinBytes: compactFrom, Version: s.config.Version, Fault: s.config.fault,
		Progress: s.opening.reading, Indexing: s.opening.indexing,
		Logger: func(format string, args ...any) { s.log.Warn().Msgf(format, args...) },
	})
	if err != nil {
		return nil, err
	}
	s.engine, s.repaired = opened.Engine, opened.Repaired
	return opened.Repaired, s.followDatabase()
}

// Repaired describes, in lines of text, what Config.Repair salvaged and what
// is lost; nil if the data needed no repair.
func (s *Server) Repaired() []string { return s.repaired }

// Check reads a data directory, or a backup, that no server uses, without
// changing it: every document, the indexes, and what the engine keeps to find
// damage, such as checksums.
func Check(dbPath string) (*Report, error) { return engines.Check(dbPath, commands.NewIndexer()) }

// Restore checks a backup and copies it to a data directory, which must be
// empty or missing.
func Restore(backup, dbPath string) (*Report, error) {
	r, err := engines.Restore(backup, dbPath, commands.NewIndexer())
	if err != nil {
		return r, fmt.Errorf("restore %s: %w", backup, err)
	}
	return r, nil
}

// RestoreStream creates a data directory of an engine from a backup that "duskdb backup
// --out -" has written. The directory must be empty or missing. step is called with the
// bytes of documents that were restored since its last call.
func RestoreStream(ctx context.Context, backup io.Reader, engine, dbPath string, step func(bytes int64)) (Copied, error) {
	done, err := engines.Load(ctx, backup, cmp.Or(engine, engines.Default), dbPath, engines.Options{Indexer: commands.NewIndexer()}, step)
	if err != nil {
		return Copied{}, fmt.Errorf("restore: %w", err)
	}
	return Copied{To: dbPath, Collections: done.Collections, Records: done.Records, Bytes: done.Bytes}, nil
}

// Copied describes a finished copy.
type Copied struct {
	From, To                      string // locations, without the user and password of a database
	Collections, Records, Indexes int64
	Bytes                         int64 // size of the documents
}

// CopyOptions are the options of [Copy].
type CopyOptions struct {
	CacheSize string // as Config.CacheSize
	// Timeout is how long the copy waits for a database that cannot be reached; 0: as long as it
	// takes.
	Timeout time.Duration
	// Step is called with the number of bytes that will be read in all, and with those read
	// since its last call. Required.
	Step func(total, bytes int64)
	// Log is called with what the copy waits for, and other messages. Required.
	Log func(format string, args ...any)
}

// Copy copies the data of one engine to another, and compares the copy with the
// original. ENGINE:DIR, or postgres:// and so on, names each. No server may use a
// directory, nor the target; the data of a database are copied as they are at one
// moment. The target must be empty, missing or have a copy that was not finished.
func Copy(ctx context.Context, from, to string, o CopyOptions) (Copied, error) {
	source, err := engines.ParseLocation(from)
	if err != nil {
		return Copied{}, &OptionError{err}
	}
	target, err := engines.ParseLocation(to)
	if err != nil {
		return Copied{}, &OptionError{err}
	}
	cache, err := (&Config{CacheSize: o.CacheSize}).cacheBytes()
	if err != nil {
		return Copied{}, &OptionError{err}
	}
	done, err := engines.Copy(ctx, source, target, engines.Options{Indexer: commands.NewIndexer(), CacheBytes: cache, Logger: o.Log, Patience: o.Timeout}, o.Step)
	if err != nil {
		return Copied{}, fmt.Errorf("copy %s to %s: %w", source, target, err)
	}
	return Copied{
		From: source.String(), To: target.String(),
		Collections: done.Collections, Records: done.Records, Indexes: done.Indexes, Bytes: done.Bytes,
	}, nil
}
