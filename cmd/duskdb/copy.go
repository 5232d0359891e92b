package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/duskdb/duskdb/server"
)

// copyCmd copies the data of one engine to another.
type copyCmd struct {
	From      string `arg:"" help:"Data to copy, as ENGINE:DIR: bunt:DIR or pebble:DIR; also a backup. No server may use them."`
	To        string `arg:"" help:"Where to copy them, as ENGINE:DIR; the directory must be empty or missing."`
	CacheSize string `name:"cacheSize" help:"Memory for data that an engine reads from disk: bytes, 256MB, or a percentage of the machine's memory."`
	Quiet     bool   `help:"Print neither progress nor the result."`
}

// Run copies and compares.
func (c *copyCmd) Run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var bar *progress
	done, err := server.Copy(ctx, c.From, c.To, c.CacheSize, func(total, bytes int64) {
		if bar == nil {
			bar = newProgress(total, c.Quiet)
		}
		bar.add(bytes)
	})
	if bar != nil {
		bar.end()
	}
	if err == nil && !c.Quiet {
		fmt.Printf("%s to %s: %d collections, %d documents, %d bytes, %d indexes; the copy is equal to the original\n",
			c.From, c.To, done.Collections, done.Records, done.Bytes, done.Indexes)
	}
	return err
}
