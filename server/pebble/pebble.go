// Package pebble links the storage engine pebble into a program, for data larger
// than memory. A program that embeds the server imports it for that alone:
//
//	import _ "github.com/duskdb/duskdb/server/pebble"
//
// Then server.Config.StorageEngine and servertest.Engine may be "pebble". Programs
// without the import build neither the engine nor the many modules that it needs.
package pebble

import (
	"context"
	"errors"
	"fmt"

	"github.com/duskdb/duskdb/internal/engines"
	"github.com/duskdb/duskdb/storage/pebble"
)

func init() {
	engines.Link("pebble", engines.Implementation{Open: open, Check: pebble.Check, Restore: pebble.Restore})
}

func open(_ context.Context, o engines.Options) (engines.Opened, error) {
	e, err := pebble.Open(pebble.Options{
		Path: o.Path, Clock: o.Clock, Indexer: o.Indexer, CacheBytes: o.CacheBytes, FileMode: o.FileMode, Fault: o.Fault, Logger: o.Logger,
	})
	var damage *pebble.DamageError
	if o.Repair && errors.As(err, &damage) {
		err = fmt.Errorf("%w. The storage engine pebble cannot salvage damaged files: --repair has changed nothing", err)
	}
	if err != nil {
		return engines.Opened{}, err
	}
	opened := engines.Opened{Engine: e}
	if lost := e.Lost(); lost != "" {
		opened.Repaired = []string{lost}
	}
	return opened, nil
}
