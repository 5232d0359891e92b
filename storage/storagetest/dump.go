package storagetest

import (
	"fmt"
	"strings"

	"github.com/duskdb/duskdb/storage"
)

// Dump writes everything that an engine shows as text: two engines with the
// same dump are in the same state. UUIDs are left out.
func Dump(e storage.Engine) string {
	var s string
	err := e.View(ctx, func(tx storage.Tx) error { s = dumpTx(tx); return nil })
	if err != nil {
		return fmt.Sprintf("error: %v\n", err)
	}
	return s
}

func dumpTx(tx storage.Tx) string {
	var b strings.Builder
	if err := dump(&b, tx); err != nil {
		fmt.Fprintf(&b, "error: %v\n", err)
	}
	return b.String()
}

func dump(b *strings.Builder, tx storage.Tx) error {
	for _, i := range Got(tx.Collections("")) {
		c, err := tx.Collection(i.Namespace)
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "%s %v count=%d size=%d last=%d\n", i.Namespace, i.Options, Got(c.Count()), Got(c.Size()), Got(c.LastID()))
		err = c.Scan(storage.Range{}, func(r storage.Record) bool {
			fmt.Fprintf(b, "  %d @%d %v\n", r.ID, r.TS, r.Doc)
			return true
		})
		if err != nil {
			return err
		}
		for _, x := range i.Indexes {
			if err := dumpIndex(b, c, x); err != nil {
				return err
			}
		}
	}
	return nil
}

func dumpIndex(b *strings.Builder, c storage.Collection, x storage.IndexInfo) error {
	st, err := c.IndexStats(x.Name)
	if err != nil {
		return err
	}
	if st.Estimate {
		st.Entries = -1
	}
	fmt.Fprintf(b, "  index %s %v entries=%d\n", x.Name, x.Spec, st.Entries)
	return c.ScanIndex(x.Name, storage.KeyRange{}, func(k []byte, id storage.RecordID) bool {
		fmt.Fprintf(b, "    %x/%d\n", k, id)
		return true
	})
}
