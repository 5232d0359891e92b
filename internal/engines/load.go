package engines

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/stream"
)

// Load creates a data directory of an engine from a backup that was sent as a sequence of
// documents (package stream). The directory must be empty or missing, or have what is left
// of an earlier attempt. If it fails the directory remains unfinished, and no server takes it.
func Load(ctx context.Context, in io.Reader, name, path string, o Options, step func(bytes int64)) (done Copied, err error) {
	e, err := named(name)
	if err != nil {
		return done, err
	}
	if e.remote {
		return done, fmt.Errorf("a backup cannot be restored into %s: restore it into a directory, and use \"duskdb copy\"", name)
	}
	o.CompactMinBytes, o.Repair = 0, false
	target, err := newDirectory(e, Location{}, path, restoring, o)
	if err != nil {
		return done, err
	}
	err = during(ctx, target, func(engine storage.Engine) error {
		update := engine.Update
		if sharer, ok := engine.(storage.Sharer); ok {
			update = sharer.UpdateShared
		}
		totals, err := stream.Load(ctx, in, update, step)
		done.Collections, done.Records, done.Bytes = totals.Collections, totals.Records, totals.Bytes
		if err != nil {
			return err
		}
		return engine.Sync(ctx)
	})
	if err == nil {
		err = target.Finish(ctx)
	}
	return done, errors.Join(err, target.Close())
}
