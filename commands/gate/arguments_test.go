package gate_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/gate"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/value"
)

// A command that has no argument but its name takes the generic ones and no other.
func TestBareCommands(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	for _, name := range []string{"ping", "buildInfo", "hostInfo"} {
		h.OK(`{` + name + `: 1, comment: "x", maxTimeMS: 1000}`)
		if msg := h.Fails(40415, `{`+name+`: 1, comment: 1, odd: 1}`); msg != "BSON field '"+name+".odd' is an unknown field." {
			t.Errorf("%s: %s", name, msg)
		}
	}
}

// The statements of a write come in an array or in a sequence, of which the sequence
// counts, and there are 1 to 100000 of them.
func TestBatch(t *testing.T) {
	t.Parallel()
	d := value.MustJSON(`{"_id": 1}`)
	array := func(s string) args.Array { return args.Array(value.MustJSON(`{"l": ` + s + `}`).Lookup("l").Doc()) }
	for _, tt := range []struct {
		name     string
		sequence *kernel.Sequence
		array    args.Array
		n        int
		err      string
	}{
		{"an array", nil, array(`[{"_id": 1}, {"_id": 2}]`), 2, ""},
		{"a sequence", &kernel.Sequence{ID: "documents", Docs: d, Len: 1}, nil, 1, ""},
		{"both", &kernel.Sequence{ID: "documents", Docs: d, Len: 1}, array(`[1, 2, 3]`), 1, ""},
		{"another sequence", &kernel.Sequence{ID: "updates", Docs: d, Len: 1}, nil, 0, "IDLFailedToParse: BSON field 'insert.documents' is missing but a required field"},
		{"neither", nil, nil, 0, "IDLFailedToParse: BSON field 'insert.documents' is missing but a required field"},
		{"no document", nil, array(`[{"_id": 1}, 7]`), 1, "TypeMismatch: BSON field 'insert.documents.1' is the wrong type 'int', expected type 'object'"},
		{"none", nil, array(`[]`), 0, "InvalidLength: Write batch sizes must be between 1 and 100000. Got 0 operations."},
		{"too many", &kernel.Sequence{ID: "documents", Docs: d, Len: 100_001}, nil, 100_001, "InvalidLength: Write batch sizes must be between 1 and 100000. Got 100001 operations."},
	} {
		c := &kernel.Call{Cmd: &kernel.Command{Name: "insert"}}
		if tt.sequence != nil {
			c.Sequences = []kernel.Sequence{*tt.sequence}
		}
		l, err := gate.Batch(c, "documents", tt.array)
		said := ""
		if err != nil {
			said = err.Error()
		}
		if l.N != tt.n || said != tt.err {
			t.Errorf("%s: %d, %q; want %d, %q", tt.name, l.N, said, tt.n, tt.err)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
