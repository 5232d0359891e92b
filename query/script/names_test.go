package script

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/value"
)

// battery are functions that use no global name, but what the prelude made of the
// types, and the conversions.
var battery = []string{
	`function() { return this }`,
	`function() { this.x = 1; return this }`,
	`function() { return [this.long.toString(), this.big.toNumber(), this.dec.toString(), this.oid.str, this.oid.getTimestamp().tojson()] }`,
	`function() { return [this.bin.base64(), this.uuid.toString(), this.date.tojson(), this.re.tojson(), this.ts.toString(), this.min.tojson()] }`,
	`function() { return [this.code(1), this.sub.b[1].c, this.ref.toString(), this.sub.hasOwnProperty("a"), "int" in this] }`,
	`function() { var n = []; for (var k in this) n.push(k); return n.join() }`,
	`function() { return {f: function(x) { return x }, n: 12n, d: this.date, r: /a/g, u: undefined, s: "é😀", o: {a: [1, {b: null}]}} }`,
	`function() { throw this.oid }`,
	`function() { null.x }`,
}

// played is what the battery returns in an operation.
func played(e *Engine, s Setup) string {
	op := e.Operation(s)
	defer op.Close()
	var b strings.Builder
	note := func(v value.Value, err error) {
		b.WriteString(v.String())
		if err != nil {
			b.WriteString(err.Error())
		}
		b.WriteByte('\n')
	}
	for _, source := range battery {
		note(op.Call(source, sample()))
		note(op.CallOn(source, sample()))
	}
	note(op.Emits(`function() { emit(this.int, {a: this.oid}) }`, sample()))
	calls := value.NewArray(value.NewArray(value.Int32(1), value.Int32(2)))
	note(op.Fold(`function(s, a, b) { return s + a * b }`, false, value.Int32(1), calls))
	note(op.Fold(`function(a, b) { return a + b }`, true, value.Int32(1), value.NewArray(value.Int32(2))))
	return b.String()
}

// globalNames are the names of the global object, as the engine lists them.
func globalNames(t *testing.T, e *Engine) []string {
	t.Helper()
	op := e.Operation(Setup{})
	defer op.Close()
	v, err := op.Call(`function() { return Object.getOwnPropertyNames(globalThis).join() }`, nil)
	if err != nil {
		t.Fatal(err)
	}
	return append(strings.Split(v.Str(), ","), "__proto__", "obj", "$emitter", "$reduce", "$entry", "$native", "$ask", "constructor", "toString", "hasOwnProperty")
}

// A stored function or value, and a variable of mapReduce, may have the name of
// anything that the language or the prelude defines. Scripts that use that name find
// it; nothing else changes.
func TestHiddenNames(t *testing.T) {
	e := newEngine(t)
	want, names := played(e, Setup{}), globalNames(t, e)
	if len(names) < 80 || !strings.Contains(want, "v: { a: ObjectId(") {
		t.Fatal(names, want)
	}
	values := []value.Value{value.Int32(5), value.Document(value.NewDoc("a", value.Int32(1))), value.Code("function() { throw 'hidden' }")}
	for _, v := range values {
		var all []Stored
		for _, name := range names {
			all = append(all, Stored{name, v})
		}
		if got := played(e, Setup{Stored: func() ([]Stored, error) { return all, nil }}); got != want {
			t.Errorf("all names are %s: %s\nwant %s", v, got, want)
		}
	}
	for _, name := range names {
		switch name {
		case "undefined", "NaN", "Infinity": // which are constants
			continue
		}
		s := Setup{Globals: value.NewDoc(name, values[0])}
		if got := played(e, s); got != want {
			t.Errorf("%s is 5: %s\nwant %s", name, got, want)
		}
		op := e.Operation(s)
		if v, err := op.Call("function() { return "+name+" }", nil); err != nil || v.AsDouble() != 5 {
			t.Errorf("%s: %s, %v", name, v, err)
		}
		op.Close()
	}
}
