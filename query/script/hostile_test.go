package script

import (
	"errors"
	"testing"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/value"
)

var errTooLong = errors.New("too long")

// hostile are scripts that would take minutes, or all memory.
var hostile = []string{
	`for (;;) {}`,
	`while (true) { try { for (;;) {} } catch (e) {} finally { continue } }`,
	`(function f() { try { f() } finally { f() } })()`,
	`/^(a+)+$/.test("a".repeat(40) + "!")`,
	`"a".repeat(100000).replace(/(a*)*b/g, "")`,
	`Array.prototype.indexOf.call({length: 2 ** 53 - 1}, 1)`,
	`Array.prototype.lastIndexOf.call({length: 2 ** 53 - 1}, 1)`,
	`Array.prototype.includes.call({length: 2 ** 53 - 1}, 1)`,
	`Array.prototype.reverse.call({length: 2 ** 53 - 1})`,
	`Array.prototype.fill.call({length: 2 ** 53 - 1}, 1)`,
	`Array.prototype.forEach.call({length: 2 ** 53 - 1}, function() {})`,
	`Array.prototype.copyWithin.call({length: 2 ** 53 - 1}, 0, 1)`,
	`Array.prototype.splice.call({length: 2 ** 53 - 1}, 0, 1)`,
	`Array.prototype.unshift.call({length: 2 ** 53 - 2}, 1)`,
	`Array.prototype.shift.call({length: 2 ** 53 - 1})`,
	`Array.prototype.every.call({length: 2 ** 53 - 1}, isNaN)`,
	`Array.prototype.sort.call({length: 2 ** 53 - 1})`,
	`Array.prototype.join.call({length: 2 ** 53 - 1}, "")`,
	`Array.prototype.slice.call({length: 2 ** 32 - 1})`,
	`Array.prototype.concat.call([], Object.defineProperty({length: 2 ** 53 - 1}, Symbol.isConcatSpreadable, {value: true}))`,
	`Array.prototype.flat.call({length: 2 ** 53 - 1})`,
	`Array.prototype.at.call(new Array(2 ** 32 - 1), 5); new Array(2 ** 32 - 1).join()`,
	`new Array(2 ** 32 - 1).indexOf(1)`,
	`new Array(2 ** 32 - 1).toSorted()`,
	`Array.from({length: 2 ** 53 - 1})`,
	`var s = "a".repeat(5000000); (s + s).indexOf(s.slice(1) + "b")`,
	`var s = "a".repeat(5000000); (s + s).lastIndexOf(s.slice(1) + "b")`,
	`var s = "a".repeat(5000000); (s + s).split(s.slice(1) + "b")`,
	`var s = "a".repeat(5000000); (s + s).replaceAll(s.slice(1) + "b", "")`,
	`var o = {}; for (var i = 0; i < 100000; i++) o = {o: o}; JSON.stringify(o)`,
	`JSON.parse("[".repeat(5000000))`,
	`var n = 3n; for (;;) n = n * n`,
	`(2n ** 900000n).toString(3)`,
	`BigInt("7".repeat(300000))`,
	`var a = []; for (;;) a.push("x".repeat(100000) + a.length)`,
	`var s = "x"; for (;;) s += s`,
	`var s = "x"; for (;;) s = s + "y" + s`,
	`new ArrayBuffer(2000000000)`,
	`new Uint8Array(2 ** 32)`,
	`var m = new Map(); for (var i = 0; ; i++) m.set(i, "x" + i)`,
	`"x".padStart(2 ** 30 - 1, "abc")`,
	`new Function("a".repeat(100000) + "(".repeat(1000000))`,
	`eval("[".repeat(1000000))`,
	`eval("1" + "+1".repeat(1000000))`,
	`new RegExp("(".repeat(1000000))`,
	`new RegExp("(?:a{1,1000}){1,1000}{1,1000}".repeat(10))`,
	`var o = {}; o.toString = function() { return o + "" }; o + ""`,
	`var p = new Proxy({}, {get: function(t, k, r) { return r[k] }}); p.x`,
	`var p = {}; for (var i = 0; i < 1000000; i++) p = Object.create(p); p.nope`,
	`var f = function() {}; for (var i = 0; i < 1000000; i++) f = f.bind(null); f()`,
	`var a = [1]; a.valueOf = function() { return a.sort(function() { throw 1 }) }; for (;;) a.sort()`,
	`var a = []; for (var i = 0; i < 3000000; i++) a.push(i % 7); a.sort(); a.sort(); a.sort(); a.sort()`,
	`function* g() { yield* g() } Array.from(g())`,
	`(async function f() { for (;;) {} })()`,
	`sleep(1e9)`,
	`var a = [1, 2]; a[2] = a; return a`,
	`var o = {}; o.o = o; return o`,
	`return new Proxy({}, {ownKeys: function() { for (;;) {} }})`,
	`return {get x() { for (;;) {} }}`,
	`return {get x() { throw new Error("no") }}`,
	`return {toJSON: 1, a: Symbol("x")}`,
	`var o = {}; for (var i = 0; i < 10000; i++) o = {o: o}; return o`,
	`return "x".repeat(9000000) + "y".repeat(9000000)`,
	`return new Array(2 ** 32 - 1)`,
	`return {"a\0b": 1}`,
	`throw {toString: function() { for (;;) {} }}`,
	`throw {toString: function() { throw 1 }}`,
	`var e = new Error(); Object.defineProperty(e, "stack", {get: function() { for (;;) {} }}); throw e`,
	`printjson("x".repeat(9000000))`,
	`Object.prototype.toString = null; Array.prototype.push = null; String.prototype.replace = null; return tojson({a: [1]})`,
	`hex_md5("x".repeat(9000000)); hex_md5({}); bsonWoCompare(1); ObjectId("zz")`,
	`new ObjectId.prototype.constructor.prototype.toString()`,
	`NumberLong.prototype.toString.call(ObjectId())`,
	`ObjectId.prototype.str`,
	`Object.setPrototypeOf(NumberLong(1), null) + 1`,
	`gc(); gc(); for (var i = 0; ; i++) new WeakRef({})`,
}

// TestHostile: no script takes more than a limited time and memory.
func TestHostile(t *testing.T) {
	e := newEngine(t)
	e.HeapLimitMB.Store(48)
	until := clock.System().Now().Add(time.Minute)
	op := e.Operation(Setup{
		Interrupt: func() error {
			if clock.System().Now().After(until) {
				return errTooLong
			}
			return nil
		},
		Done: func() <-chan struct{} { c := make(chan struct{}); close(c); return c },
	})
	if _, err := op.Call("true", nil); err != nil {
		t.Fatal(err)
	}
	for _, source := range hostile {
		begin := clock.System().Now()
		until = begin.Add(100 * time.Millisecond)
		v, err := op.Call("function() { "+source+" }", value.NewDoc("a", value.Int32(1)))
		took := clock.System().Now().Sub(begin)
		if took > time.Minute { // a second or two on a quiet machine
			t.Errorf("%s: %s, %.100s %v", source, took, v.String(), err)
		}
		op.Close()
	}
	until = clock.System().Now().Add(time.Minute) // of a busy machine, too
	v, err := op.Call("this.a + 1", value.NewDoc("a", value.Int32(1)))
	if err != nil || v.AsDouble() != 2 {
		t.Error(v, err)
	}
	op.Close()
	if used := e.budget.Used(); used > 5*8<<20 {
		t.Errorf("%d bytes are in use", used)
	}
}
