package storage

import (
	"context"
	"errors"
)

// ErrPathExists reports that a backup would overwrite something.
var ErrPathExists = errors.New("the path exists already")

// UnfinishedName is a file that a directory has while data are copied into it. No server uses
// such a directory.
const UnfinishedName = "duskdb.copying"

// Backuper is an Engine that can copy its state while it works. An engine that
// stores its data on a database server does not implement it.
type Backuper interface {
	// Backup writes the latest committed state to a new directory, from which an
	// engine can be opened. Reads and writes continue meanwhile.
	Backup(ctx context.Context, dir string) (Backup, error)
}

// Backup describes a finished backup.
type Backup struct {
	Collections int64
	Records     int64
	Bytes       int64 // size of the files
}
