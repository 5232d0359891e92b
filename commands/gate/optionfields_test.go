package gate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/gate"
	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/value"
)

// What dumps of mongod say of its engine must be sound, as checkTableCreationOptions
// of mongod demands; nothing follows from it.
func TestStorageEngineOptions(t *testing.T) {
	t.Parallel()
	const unknown = "Invalid configuration string for wiredTiger: *"
	h := harness.New(t)
	create := func(engine string) string { return `{create: "c", storageEngine: ` + engine + `}` }
	config := func(text string) string { return create(`{wiredTiger: {configString: ` + text + `}}`) }
	h.Refuses([]harness.Refusal{
		{DB: "test", Command: create(`{wiredTiger: 1}`), Code: 2, Text: "'storageEngine.wiredTiger' has to be an embedded document."},
		{DB: "test", Command: create(`{mmapv1: {}}`), Code: 72, Text: "mmapv1 is not a registered storage engine for this server"},
		{DB: "test", Command: create(`{wiredTiger: {x: 1}}`), Code: 72, Text: "'x' is not a supported option in storageEngine.wiredTiger"},
		{DB: "test", Command: config(`1`), Code: 14, Text: "'configString' must be a string."},
		{DB: "test", Command: config(`"log=(enabled=false)\u0000"`), Code: 9, Text: "malformed 'configString' value."},
		{DB: "test", Command: config(`"type=lsm"`), Code: 6627201, Text: "Configuration 'type=lsm' is not supported."},
		{DB: "test", Command: config(`"no_such_key=1"`), Code: 2, Text: unknown},
		{DB: "test", Command: config(`"block_compressor=zlib,no_such_key"`), Code: 2, Text: unknown},
		{DB: "test", Command: config(`"block_compressor=zlib, log=(enabled=true,anything=1),prefix_compression,"`)},
		{DB: "test", Command: `{drop: "c"}`},
		{DB: "test", Command: create(`{}`)},
	})
}

// The bounds of a pipeline of a view, and what is no pipeline.
func TestPipelineOfView(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	view := func(n int, stage string) string {
		return `{create: "v", viewOn: "c", pipeline: [` + strings.TrimSuffix(strings.Repeat(stage+",", n), ",") + `]}`
	}
	h.Refuses([]harness.Refusal{
		{DB: "test", Command: view(1001, `{$match: {}}`), Code: 7749501, Text: "Pipeline length must be no longer than 1000 stages."},
		{DB: "test", Command: `{create: "v", viewOn: "c", pipeline: [{$match: {}}, 1]}`, Code: 14, Text: "BSON field 'create.pipeline.1' is the wrong type 'int', expected type 'object'"},
		{DB: "test", Command: `{create: "v", viewOn: "c", pipeline: {}}`, Code: 14, Text: "BSON field 'create.pipeline' is the wrong type 'object', expected type 'array'"},
		{DB: "test", Command: `{create: "v", viewOn: "c", pipeline: [null, {$match: {a: 1}}, null]}`},
		{DB: "test", Command: `{collMod: "v", viewOn: "c", pipeline: [7]}`, Code: 14, Text: "BSON field 'collMod.pipeline.0' is the wrong type 'int', expected type 'object'"},
	})
	for _, d := range h.Listed() {
		if d.Lookup("name").Str() == "v" && d.Lookup("options").Doc().Lookup("pipeline").String() != `[ { $match: { a: 1 } } ]` {
			t.Errorf("the view is %s", d)
		}
	}
}

// The pipeline of a view has at most 16 MB, of 1000 times 1000 bytes.
func TestSizeOfPipelineOfView(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{
		15_999_900: "",
		16_000_000: "ViewPipelineMaxSizeExceeded: Operation on view exceeded the maximum pipeline size of 16000000 bytes",
	} {
		stage := value.NewDoc("$match", value.Document(value.NewDoc("a", value.String(strings.Repeat("x", n)))))
		pipeline := args.Array(value.NewArray(value.Document(stage)).Doc())
		err := gate.CheckOptionFields(&kernel.Call{}, "create", &pipeline)
		if said := errorText(err); said != want {
			t.Errorf("%d bytes: %q, want %q", n, said, want)
		}
	}
}

// validationLevel and validationAction: an invalid value is refused and changes nothing.
func TestValidationEnumerations(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{create: "c"}`)
	for _, field := range []string{"validationLevel", "validationAction"} {
		for _, v := range []string{"some", "", "Error"} {
			for _, command := range []string{"create", "collMod"} {
				coll := map[string]string{"create": "d", "collMod": "c"}[command]
				if msg := h.Fails(2, fmt.Sprintf(`{%s: %q, %s: %q}`, command, coll, field, v)); !strings.HasPrefix(msg, "Enumeration value '"+v+"' for field '") || !strings.HasSuffix(msg, field+"' is not a valid value.") {
					t.Errorf("%s: %q", command, msg)
				}
			}
		}
	}
	h.OK(`{collMod: "c", validator: {a: 1}, validationLevel: "moderate", validationAction: "warn"}`)
	list := h.Listed()
	if o := list[0].Lookup("options").Doc(); len(list) != 1 || o.Lookup("validationLevel").Str() != "moderate" || o.Lookup("validationAction").Str() != "warn" {
		t.Errorf("listed %v", list)
	}
}

// The scale of collStats and dbStats, as scale of collStats in mongod's IDL: a number
// from 1 to 1 PB, truncated.
func TestScale(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		v    value.Value
		want int64
		err  string
	}{
		{value.Value{}, 1, ""},
		{value.Null(), 1, ""},
		{value.Int32(1024), 1024, ""},
		{value.Double(2.9), 2, ""},
		{value.Int64(1 << 50), 1 << 50, ""},
		{value.Int64(1<<50 + 1), 0, "BadValue: BSON field 'scale' value must be <= 1125899906842624, actual value '1125899906842625'"},
		{value.Int32(0), 0, "BadValue: BSON field 'scale' value must be >= 1, actual value '0'"},
		{value.Int32(-1), 0, "BadValue: BSON field 'scale' value must be >= 1, actual value '-1'"},
		{value.String("1"), 0, "TypeMismatch: BSON field 'dbStats.scale' is the wrong type 'string', expected types '[long, int, decimal, double]'"},
	} {
		got, err := gate.ScaleOf("dbStats", tt.v)
		said := ""
		if err != nil {
			said = err.Error()
		}
		if got != tt.want || said != tt.err {
			t.Errorf("%s: %d, %q; want %d, %q", tt.v, got, said, tt.want, tt.err)
		}
	}
}
