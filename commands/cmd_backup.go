package commands

import (
	"errors"
	"path/filepath"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// maintenanceCommands look after the data as a whole.
func maintenanceCommands() []command {
	return []command{
		{name: "duskBackup", run: runBackup, flags: adminOnly, action: "fsync", on: onCluster, help: "write a consistent copy of all data to a new directory of the server's machine"},
	}
}

type backupArgs struct {
	Backup value.Value `arg:"duskBackup,required"`
	Path   string      `arg:"path,required"`
}

var backupSpec = newArgs[backupArgs]("duskBackup")

// runBackup writes the latest state to a directory while reads and writes go
// on. The path is one of the server's machine, must be absolute, and must not
// exist.
func runBackup(c *Call) error {
	var a backupArgs
	if err := backupSpec.decode(c.Body, &a); err != nil {
		return err
	}
	if !filepath.IsAbs(a.Path) {
		return mongoerr.Newf(mongoerr.BadValue, "duskBackup needs an absolute path, not '%s'", a.Path)
	}
	engine, ok := c.svc.engine.(storage.Backuper)
	if !ok {
		return mongoerr.New(mongoerr.CommandNotSupported, "this storage engine leaves backups to its database")
	}
	began := c.svc.real.Now()
	info, err := engine.Backup(c.ctx, filepath.Clean(a.Path))
	switch {
	case errors.Is(err, storage.ErrPathExists):
		return mongoerr.Newf(mongoerr.FileAlreadyOpen, "%v", err).WithCause(err)
	case err != nil && c.ctx.Err() != nil:
		return c.interrupted()
	case diskFull(err):
		return failedWrite(err)
	case err != nil:
		return mongoerr.Newf(mongoerr.FileOpenFailed, "backup: %v", err).WithCause(err)
	}
	c.reply.String("path", filepath.Clean(a.Path)).Int64("collections", info.Collections).Int64("records", info.Records).
		Int64("bytes", info.Bytes).Int64("millis", c.svc.real.Now().Sub(began).Milliseconds())
	return nil
}
