package engines

import (
	"errors"
	"fmt"

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
		var damage *pebble.DamageError
		if o.Repair && errors.As(err, &damage) {
			err = fmt.Errorf("%w. The storage engine pebble cannot salvage damaged files: --repair has changed nothing", err)
		}
		if err != nil {
			return Opened{}, err
		}
		return Opened{Engine: e}, nil
	},
	check:   pebble.Check,
	restore: pebble.Restore,
}
