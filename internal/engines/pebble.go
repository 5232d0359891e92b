package engines

import (
	"errors"
	"fmt"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/pebble"
)

// pebbleEngine keeps the data in tables on disk, and what is read of them in a
// cache.
var pebbleEngine = engine{
	name:   "pebble",
	marks:  []string{"duskdb.pebble"},
	cached: true,
	open: func(o Options) (Opened, error) {
		e, err := pebble.Open(pebble.Options{
			Path: o.Path, Clock: o.Clock, Indexer: o.Indexer, CacheBytes: o.CacheBytes, FileMode: o.FileMode, Fault: o.Fault, Logger: o.Logger,
		})
		var format *pebble.FormatError
		if err != nil && o.Repair && !errors.As(err, &format) && !errors.Is(err, storage.ErrLocked) {
			err = fmt.Errorf("%w. The storage engine pebble cannot salvage damaged files, --repair has changed nothing: restore a backup with \"duskdb restore\"", err)
		}
		if err != nil {
			return Opened{}, err
		}
		return Opened{Engine: e}, nil
	},
	check:   pebble.Check,
	restore: pebble.Restore,
}
