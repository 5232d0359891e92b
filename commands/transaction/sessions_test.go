package transaction_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/transaction"
	"github.com/duskdb/duskdb/value"
)

// The short way takes the form that drivers send, and nothing else.
func TestPlainID(t *testing.T) {
	uuid := []byte("0123456789abcdef")
	got, ok := transaction.PlainID(value.NewDoc("id", value.Binary(4, uuid)))
	if !ok || string(got[:]) != string(uuid) {
		t.Errorf("read %x, %v", got, ok)
	}
	for name, d := range map[string]value.Doc{
		"empty":               value.EmptyDoc,
		"another subtype":     value.NewDoc("id", value.Binary(3, uuid)),
		"too short":           value.NewDoc("id", value.Binary(4, uuid[1:])),
		"another name":        value.NewDoc("if", value.Binary(4, uuid)),
		"another type":        value.NewDoc("id", value.String("0123456789abcdefg")),
		"with a digest":       value.NewDoc("id", value.Binary(4, uuid), "uid", value.Binary(0, make([]byte, 32))),
		"with a field before": value.NewDoc("uid", value.Binary(0, make([]byte, 32)), "id", value.Binary(4, uuid)),
	} {
		if _, ok := transaction.PlainID(d); ok {
			t.Errorf("%s: taken", name)
		}
	}
}
