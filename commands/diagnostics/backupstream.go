package diagnostics

import (
	"context"

	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/stream"
)

// backupCursor is what the namespace of a cursor over a backup ends with.
const backupCursor = "$cmd.duskBackup"

// streamBackup answers with a cursor over the documents of a backup (package stream), in the
// state of the beginning. Nothing is written on the server's machine. The cursor ends with
// the connection, as it keeps that state from being discarded.
func streamBackup(c *kernel.Call) error {
	if _, ok := c.Svc.Engine.(storage.Backuper); !ok {
		return mongoerr.New(mongoerr.CommandNotSupported, "this storage engine leaves backups to its database")
	}
	if c.Transaction() != nil {
		return mongoerr.New(mongoerr.OperationNotSupportedInTransaction, "Cannot run 'duskBackup' in a multi-document transaction.")
	}
	txn, err := c.Svc.Engine.Begin(context.WithoutCancel(c.Ctx)) // it outlives the command
	if err != nil {
		return err
	}
	source := stream.NewSource(txn, c.Svc.Options.DuskDB)
	source.Within(c.Ctx)
	return exec.FirstBatch(c, exec.CursorRequest{
		NS: storage.Namespace{DB: "admin", Coll: backupCursor}, It: source, BatchSize: 0, NoTimeout: true, OfConn: true,
		SetOp: func(c *kernel.Call) { source.Within(c.Ctx) },
	})
}
