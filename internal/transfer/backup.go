package transfer

import (
	"errors"
	"io"

	"github.com/duskdb/duskdb/value"
)

// Backup writes a backup of a server as a sequence of documents.
func Backup(from Runner, w io.Writer) error {
	reply, err := from.Run(value.NewDoc("duskBackup", value.Int32(1), "stream", value.Bool(true), "$db", value.String("admin")))
	if err != nil {
		return err
	}
	for batch := "firstBatch"; ; batch = "nextBatch" {
		cursor := reply.Lookup("cursor").Doc()
		last := false
		for v := range cursor.Lookup(batch).Doc().Values() {
			last = v.Doc().Has("end")
			if _, err := w.Write(v.Doc()); err != nil {
				return err
			}
		}
		id := cursor.Lookup("id")
		if id.Int64() == 0 {
			if !last {
				return errors.New("the server ended the backup too early")
			}
			return nil
		}
		reply, err = from.Run(value.NewDoc("getMore", value.Int64(id.Int64()), "collection", value.String("$cmd.duskBackup"), "$db", value.String("admin")))
		if err != nil {
			return err
		}
	}
}
