package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/duskdb/duskdb/server"
)

// copyCmd copies the data of one engine to another.
type copyCmd struct {
	From       string        `arg:"" help:"Data to copy: bunt:DIR or pebble:DIR, also a backup, which no server may use; or postgres, the database that --storageURI names."`
	To         string        `arg:"" help:"Where to copy them: bunt:DIR or pebble:DIR, which must be empty or missing; or postgres, where the schema must be so."`
	StorageURI string        `name:"storageURI" help:"Database that postgres stands for: postgres://user:password@host/database. It has a password: better set it in the environment (DUSKDB_STORAGE_URI)."`
	CacheSize  string        `name:"cacheSize" help:"Memory for data that an engine reads from disk: bytes, 256MB, or a percentage of the machine's memory."`
	Timeout    time.Duration `default:"30s" help:"How long to wait for a database that cannot be reached."`
	Quiet      bool          `help:"Print neither progress nor the result."`
}

// place is one of the two places, with the database for the engine that has one.
func (c *copyCmd) place(text string) (string, error) {
	if text != "postgres" {
		return text, nil
	}
	if c.StorageURI == "" {
		return "", usageError{errors.New("postgres needs --storageURI or the variable DUSKDB_STORAGE_URI, which names the database")}
	}
	return c.StorageURI, nil
}

// Run copies and compares.
func (c *copyCmd) Run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	from, err := c.place(c.From)
	if err != nil {
		return err
	}
	to, err := c.place(c.To)
	if err != nil {
		return err
	}
	var bar *progress
	step := func(total, bytes int64) {
		if bar == nil {
			bar = newProgress(total, c.Quiet)
		}
		bar.add(bytes)
	}
	done, err := server.Copy(ctx, from, to, server.CopyOptions{CacheSize: c.CacheSize, Timeout: c.Timeout, Step: step, Log: tell})
	if bar != nil {
		bar.end()
	}
	if err == nil && !c.Quiet {
		fmt.Printf("%s to %s: %d collections, %d documents, %d bytes, %d indexes; the copy is equal to the original\n",
			done.From, done.To, done.Collections, done.Records, done.Bytes, done.Indexes)
	}
	return err
}

// tell prints a line about what a command does.
func tell(format string, args ...any) { fmt.Fprintf(os.Stderr, "duskdb: "+format+"\n", args...) }
