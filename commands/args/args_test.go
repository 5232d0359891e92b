package args

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/value"
)

// many64 has as many arguments as there can be, many65 one more.
type (
	many64 struct {
		F0, F1, F2, F3, F4, F5, F6, F7, F8, F9, F10, F11, F12, F13, F14, F15           string `arg:"f"`
		F16, F17, F18, F19, F20, F21, F22, F23, F24, F25, F26, F27, F28, F29, F30, F31 string `arg:"f"`
		F32, F33, F34, F35, F36, F37, F38, F39, F40, F41, F42, F43, F44, F45, F46, F47 string `arg:"f"`
		F48, F49, F50, F51, F52, F53, F54, F55, F56, F57, F58, F59, F60, F61, F62, F63 string `arg:"f"`
	}
	many65 struct {
		F0, F1, F2, F3, F4, F5, F6, F7, F8, F9, F10, F11, F12, F13, F14, F15           string `arg:"f"`
		F16, F17, F18, F19, F20, F21, F22, F23, F24, F25, F26, F27, F28, F29, F30, F31 string `arg:"f"`
		F32, F33, F34, F35, F36, F37, F38, F39, F40, F41, F42, F43, F44, F45, F46, F47 string `arg:"f"`
		F48, F49, F50, F51, F52, F53, F54, F55, F56, F57, F58, F59, F60, F61, F62, F63 string `arg:"f"`
		F64                                                                            string `arg:"f"`
	}
)

// A declaration that cannot be decoded is found at start-up, not by a client.
func TestNewPanics(t *testing.T) {
	if n := reflect.TypeFor[many65]().NumField(); n != 65 {
		t.Fatalf("many65 has %d fields", n)
	}
	if said := panicOf(func() { New[many65]("many") }); said != "commands: many has more than 64 arguments" {
		t.Errorf("65 arguments: panicked with %q", said)
	}
	if said := panicOf(func() { New[many64]("many") }); said != "" {
		t.Errorf("64 arguments: panicked with %q", said)
	}
	type odd struct {
		A chan int `arg:"a"`
	}
	if said := panicOf(func() { New[odd]("odd") }); !strings.HasPrefix(said, "commands: argument type") {
		t.Errorf("a channel: panicked with %q", said)
	}
}

func panicOf(f func()) (said string) {
	defer func() {
		if r := recover(); r != nil {
			said = fmt.Sprint(r)
		}
	}()
	f()
	return ""
}

// SimpleCursorOptions of mongod's IDL: a number that is not negative, null as if
// it were not given.
func TestBatchSize(t *testing.T) {
	for _, tt := range []struct {
		cursor, err string
		want        int64
	}{
		{`{}`, "", 7},
		{`{"batchSize": null}`, "", 7},
		{`{"batchSize": 0}`, "", 0},
		{`{"batchSize": 2.9}`, "", 2},
		{`{"batchSize": {"$numberLong": "12"}}`, "", 12},
		{`{"batchSize": -1}`, "BadValue: BSON field 'batchSize' value must be >= 0, actual value '-1'", 0},
		{`{"batchSize": "1"}`, "TypeMismatch: BSON field 'x.cursor.batchSize' is the wrong type 'string', expected types '[long, int, decimal, double]'", 0},
		{`{"size": 1}`, "IDLUnknownField: BSON field 'x.cursor.size' is an unknown field.", 0},
		{`{"batchSize": 1, "batchSize": 1}`, "IDLDuplicateField: BSON field 'x.cursor.batchSize' is a duplicate field", 0},
	} {
		got, err := BatchSize("x.cursor", value.MustJSON(tt.cursor), 7)
		said := ""
		if err != nil {
			said = err.Error()
		}
		if said != tt.err || err == nil && got != tt.want {
			t.Errorf("%s: got %d, %q; want %d, %q", tt.cursor, got, said, tt.want, tt.err)
		}
	}
}
