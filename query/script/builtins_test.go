//go:build unix

package script

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/duskdb/duskdb/clock"
)

// functionsOf is a script that finds all functions of the language and the prelude:
// those that one reaches from the global object, and from the objects that only
// syntax makes. found has them by their paths.
const functionsOf = `
  const found = new Map(), seen = new Set();
  const visit = (o, path) => {
    if (o === null || typeof o !== "object" && typeof o !== "function" || seen.has(o)) return;
    seen.add(o);
    if (typeof o === "function") found.set(path, o);
    for (const key of Reflect.ownKeys(o)) {
      const d = Object.getOwnPropertyDescriptor(o, key), name = path + (typeof key === "symbol" ? "[" + key.description + "]" : (path && ".") + key);
      if ("value" in d) visit(d.value, name);
      else { visit(d.get, name + ":get"); visit(d.set, name + ":set"); }
    }
    visit(Object.getPrototypeOf(o), path + ".__proto__");
  };
  seen.add(Function.prototype); seen.add(Object.prototype); // to have better names
  for (const name of Object.getOwnPropertyNames(globalThis)) visit(globalThis[name], name);
  seen.delete(Function.prototype); visit(Function.prototype, "Function.prototype");
  seen.delete(Object.prototype); visit(Object.prototype, "Object.prototype");
  visit(function*() {}, "generator"); visit(async function() {}, "async"); visit(async function*() {}, "asyncGenerator");
  visit([][Symbol.iterator](), "Array iterator"); visit(""[Symbol.iterator](), "String iterator"); visit("".matchAll(/a/g), "RegExp iterator");
  visit(new Map()[Symbol.iterator](), "Map iterator"); visit(new Set()[Symbol.iterator](), "Set iterator"); visit([].values().map(isNaN), "Iterator helper");
  visit(Iterator.from({next() {}}), "Iterator wrap"); visit(Iterator.concat([]), "Iterator concat");`

// endless is a script that calls the function f for ever, on that of these which it is
// made for, with one of three lists of arguments.
const endless = `
  const is = (pattern) => pattern.test(path);
  const text = "a".repeat(1e6), like = {length: 2 ** 53 - 1, size: 1e15, has() {}, keys() { return numbers }, get() {}, set() {}};
  const numbers = {next() { return {done: false, value: 1} }, [Symbol.iterator]() { return this }};
  Object.setPrototypeOf(numbers, Iterator.prototype);
  const wide = () => { const a = []; for (let i = 0; i < 20; i++) a.push(a.slice()); return a };
  const filled = (m, add) => { for (let i = 0; i < 1000; i++) add(m, i); return m };
  const own = [
    [/^String/, () => text], [/^BigInt/, () => (1n << 500000n) - 1n], [/Array\.prototype\.__proto__|^Uint8Array/, () => new Uint8Array(5e6)],
    [/^(Array|Object)/, () => args === 2 ? wide() : like], [/^Map/, () => filled(new Map(), (m, i) => m.set(i, i))],
    [/^Set/, () => filled(new Set(), (m, i) => m.add(i))], [/^Date/, () => new Date()], [/^RegExp/, () => /(a*)*b/g],
    [/^ArrayBuffer/, () => new ArrayBuffer(5e6)], [/^DataView/, () => new DataView(new ArrayBuffer(5e6))], [/^Iterator/, () => numbers],
    [/^Function/, () => Math.max], [/^Promise/, () => Promise.resolve(1)], [/^Atomics/, () => new Int32Array(8)], [/^Number/, () => 1.5],
    [/^Array iterator/, () => new Array(1e5).values()], [/^String iterator/, () => text[Symbol.iterator]()], [/^RegExp iterator/, () => text.matchAll(/a/g)],
  ];
  const last = own.filter(([pattern]) => is(pattern)).pop(), self = last === undefined ? like : last[1]();
  const value = () => is(/^BigInt|^Math/) ? (1n << 500000n) - 1n : is(/^JSON|^tojson|^print|^bson|^Object/) ? wide() : numbers;
  const list = args === 0 ? [like, like, like] : args === 1 ? [text, text, text] : [value(), (x) => x, 1];
  print("begin");
  for (;;) {
    try { Reflect.apply(f, self, list) } catch {}
    try { Reflect.construct(f, list) } catch {}
  }`

var errEnough = errors.New("enough")

// stopper is the context of scripts that are interrupted once they have begun.
type stopper struct {
	engine  *Engine
	begun   atomic.Bool
	polls   int
	stopped time.Duration // processor time
	t       testing.TB
}

func newStopper(t testing.TB) *stopper {
	s := &stopper{t: t}
	s.engine = New(Config{Clock: clock.System(), Real: quick{clock.System()}, Log: func(string) { s.begun.Store(true) }})
	return s
}

// quick is a clock whose timers are twenty times faster, for more polls.
type quick struct{ clock.Clock }

func (q quick) NewTimer(d time.Duration) clock.Timer { return quickTimer{q.Clock.NewTimer(d / 20)} }

type quickTimer struct{ clock.Timer }

func (q quickTimer) Reset(d time.Duration) bool { return q.Timer.Reset(d / 20) }

// enough is how much processor time a script may take after it was interrupted.
const enough = 2 * time.Second

// run runs the body of a function, and demands that it ends soon after it was
// interrupted.
func (s *stopper) run(name, body string) { s.text(name, "function() {"+body+"}") }

// text is run for the text of a function.
func (s *stopper) text(name, source string) {
	s.begun.Store(false)
	s.polls = 0
	op := s.engine.Operation(Setup{
		Interrupt: func() error {
			if !s.begun.Load() {
				return nil
			}
			if s.polls++; s.polls == 2 {
				s.stopped = processorTime(s.t)
			}
			if s.polls >= 2 {
				return errEnough
			}
			return nil
		},
		Done: func() <-chan struct{} { c := make(chan struct{}); close(c); return c },
	})
	defer op.Close()
	_, err := op.Call(source, nil)
	if !errors.Is(err, errEnough) {
		s.t.Errorf("%s: %v", name, err)
		return
	}
	if took := processorTime(s.t) - s.stopped; took > enough {
		s.t.Errorf("%s took %s to end", name, took)
	}
}

// Each function of the language and of the prelude is interrupted, however long it
// would take.
func TestBuiltins(t *testing.T) {
	s := newStopper(t)
	op := s.engine.Operation(Setup{})
	v, err := op.Call("function() {"+functionsOf+"; return Array.from(found.keys()).join('\\n') }", nil)
	op.Close()
	if err != nil {
		t.Fatal(err)
	}
	paths := strings.Split(v.Str(), "\n")
	if len(paths) < 600 {
		t.Fatal(len(paths), paths)
	}
	for i, path := range paths {
		for args := range 3 {
			if testing.Short() && i%3 != args {
				continue
			}
			source := fmt.Sprintf("const path = %q, args = %d;%s; const f = found.get(path);%s", path, args, functionsOf, endless)
			s.run(fmt.Sprint(path, " with list ", args), source)
		}
	}
}

// bombs take long in a part of the engine that does not ask whether to go on: in
// functions, or in operators.
var bombs = []string{
	`var n = (1n << 500000n) - 1n; %s for (;;) n * n`,
	`var n = 1n << 999999n, m = (1n << 500000n) - 1n; %s for (;;) n / m`,
	`%s for (;;) 7n ** 300000n`,
	`var n = 1n << 999999n; %s for (;;) n.toString()`,
	`var n = 1n << 999999n; %s for (;;) n + ""`,
	`var s = "7".repeat(290000); %s for (;;) BigInt(s)`,
	`var s = "7".repeat(290000); %s for (;;) s == 1n`,
	`%s for (;;) new Float64Array(11e6).fill(1.5)`,
	`var a = new Uint8Array(9e7); %s for (;;) a.reverse()`,
	`var a = new Uint8Array(9e7); %s for (;;) a.indexOf(1)`,
	`var a = new Uint8Array(9e7); %s for (;;) a.sort()`,
	`var a = new Uint8Array(4e7); %s for (;;) a.set(a.subarray(1))`,
	`var s = "x".repeat(1e7); %s for (;;) Date.parse(s)`,
	`var s = "x1 ".repeat(1e6); %s for (;;) Date.parse(s)`,
	`var s = "a".repeat(1e6), t = "b".repeat(1e4); %s for (;;) try { s.replaceAll("a", t) } catch {}`,
	`var a = [1]; for (var i = 0; i < 900; i++) a = [a, a]; %s for (;;) try { a.flat(Infinity) } catch {}`,
	`%s (function f() { try { f() } finally { f() } })()`,
	`%s (function f() { try { f() } catch { f() } })()`,
	`var a = new Array(1e6).fill({a: 1}); %s for (;;) try { JSON.stringify(a) } catch {}`,
	`var o = {}; for (var i = 0; i < 1e5; i++) o["a" + i] = undefined; var a = new Array(1e5).fill(o); %s JSON.stringify(a)`,
	`var s = "a".repeat(3e7), t = ("a".repeat(3e7) + "a").slice(1); %s for (;;) s === t`,
	`var s = "a".repeat(3e7), t = ("a".repeat(3e7) + "a").slice(1); %s for (;;) s < t`,
	`var o = {}, s = "a".repeat(3e7); %s for (;;) o[s]`,
	`var o = {}, s = "a".repeat(3e7); %s for (;;) s in o`,
	`var s = "1".repeat(3e7); %s for (;;) +s`,
	`var p = {}; for (var i = 0; i < 1e5; i++) p = Object.create(p); %s for (;;) p.nope`,
	`var p = {}; for (var i = 0; i < 1e5; i++) p = Object.create(p); %s for (;;) p instanceof Map`,
	`%s for (;;) Array.prototype.indexOf.call({length: 2 ** 53 - 1}, 1)`,
	`%s for (;;) Array.prototype.reverse.call({length: 2 ** 53 - 1})`,
	`var s = "1" + "+1".repeat(1e7); %s for (;;) try { eval(s) } catch {}`,
	`var s = "é".repeat(1e7); %s for (;;) try { s.normalize("NFD") } catch {}`,
	`var s = "a".repeat(40) + "!"; %s /^(a+)+$/.test(s)`,
	`var s = "a".repeat(40); %s /(a*)*b/.test(s)`,
	`var s = "a".repeat(1e6); %s for (;;) try { s.replace(/(a*)*b/g, "") } catch {}`,
	`var a = []; for (var i = 0; i < 1e6; i++) a.push("x" + i %% 7); %s for (;;) a.sort()`,
	`%s for (;;) {}`,
	`%s for (;;) { try { for (;;) {} } catch {} finally { continue } }`,
	`var o = {valueOf: function() { for (;;) {} }}; %s o + 1`,
	`%s return {get x() { for (;;) {} }}`,
	`%s throw {toString: function() { for (;;) {} }}`,
	`%s throw Object.defineProperty(new Error(), "stack", {get: function() { for (;;) {} }})`,
	`%s return new Proxy({}, {ownKeys: function() { for (;;) {} }})`,
	`function* g() { for (;;) yield 1 } %s for (var x of g()) {}`,
	`%s for (;;) sleep(1e9)`,
	`var s = "x".repeat(3e6); %s for (;;) hex_md5(s)`,
	`var a = new Array(1e5).fill({a: 1}), o = {a: a}; %s for (;;) bsonWoCompare(o, o)`,
	`var a = new Array(1e5).fill({a: 1}); %s for (;;) tojson(a)`,
}

func TestBombs(t *testing.T) {
	s := newStopper(t)
	for _, bomb := range bombs {
		source := fmt.Sprintf(bomb, `print("begin");`)
		s.run(source, source)
	}
	op := s.engine.Operation(Setup{})
	defer op.Close()
	if v, err := op.Call("1 + 1", nil); err != nil || v.AsDouble() != 2 {
		t.Error(v, err)
	}
	op.Close()
	if used := s.engine.budget.Used(); used != 0 {
		t.Errorf("%d bytes are in use", used)
	}
}
