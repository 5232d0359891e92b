package diagnostics

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/internal/plain"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

type backupArgs struct {
	Backup value.Value `arg:"duskBackup,required"`
	Path   *string     `arg:"path"`
	Stream bool        `arg:"stream"`
}

var backupSpec = args.New[backupArgs]("duskBackup")

// runBackup writes the latest state to a directory while reads and writes go on. The
// path is on the server's machine, must be absolute, and must not exist. With stream it
// writes nothing, and answers with a cursor.
func runBackup(c *kernel.Call) error {
	var a backupArgs
	if err := backupSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	switch {
	case a.Stream && a.Path != nil:
		return mongoerr.New(mongoerr.InvalidOptions, "duskBackup takes either path or stream")
	case a.Stream:
		return streamBackup(c)
	case a.Path == nil:
		return mongoerr.New(mongoerr.IDLFailedToParse, "BSON field 'duskBackup.path' is missing but a required field")
	case !filepath.IsAbs(*a.Path):
		return mongoerr.Newf(mongoerr.BadValue, "duskBackup needs an absolute path, not '%s'", *a.Path)
	}
	path := filepath.Clean(*a.Path)
	engine, ok := c.Svc.Engine.(storage.Backuper)
	if !ok {
		return mongoerr.New(mongoerr.CommandNotSupported, "this storage engine leaves backups to its database: use pg_dump, base backups, or \"duskdb copy\" to a directory")
	}
	began := c.Svc.Real.Now()
	info, err := engine.Backup(c.Ctx, path)
	if err == nil {
		err = storage.NoteVersion(path, c.Svc.Options.DuskDB, 0)
	}
	switch {
	case errors.Is(err, storage.ErrPathExists):
		return mongoerr.Newf(mongoerr.FileAlreadyOpen, "%v", err).WithCause(err)
	case err != nil && c.Ctx.Err() != nil:
		return c.Interrupted()
	case kernel.DiskFull(err):
		return kernel.FailedWrite(err)
	case err != nil:
		return mongoerr.Newf(mongoerr.FileOpenFailed, "backup: %s", noBackup(path, err)).WithCause(err)
	}
	c.Reply.String("path", path).Int64("collections", info.Collections).Int64("records", info.Records).
		Int64("bytes", info.Bytes).Int64("millis", c.Svc.Real.Now().Sub(began).Milliseconds())
	return nil
}

// noBackup says why there is no backup: often the path is one of the client's machine, or the
// server's user may not write there.
func noBackup(path string, err error) string {
	parent := filepath.Dir(path)
	switch _, missing := os.Stat(parent); {
	case errors.Is(missing, fs.ErrNotExist):
		return fmt.Sprintf("the directory %s, in which %s is to be made, does not exist on the server's machine", parent, filepath.Base(path))
	case errors.Is(err, syscall.EROFS):
		return fmt.Sprintf("%s; the server must be able to write to %s: systemd lets a service do so with ReadWritePaths", plain.Text(err), parent)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("%s; the server's user must be able to write to %s", plain.Text(err), parent)
	}
	return plain.Text(err)
}
