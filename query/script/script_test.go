package script

import (
	"strings"
	"testing"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

func newEngine(t testing.TB) *Engine {
	t.Helper()
	at := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	return New(Config{Clock: clock.NewManual(at), Real: clock.System(), Version: "8.0.12"})
}

// sample has a field of each type.
func sample() value.Doc {
	dec, _ := value.ParseDecimal("1.50")
	oid, _ := value.ParseOID("507f1f77bcf86cd799439011")
	return value.NewDoc(
		"int", value.Int32(5), "long", value.Int64(7), "big", value.Int64(1<<62+1), "double", value.Double(1.5), "dec", value.DecimalValue(dec),
		"str", value.String("é😀"), "yes", value.Bool(true), "null", value.Null(), "oid", value.ObjectID(oid),
		"date", value.DateTime(1577934245678), "ts", value.Timestamp(4, 9), "bin", value.Binary(0, []byte("hi")),
		"uuid", value.Binary(4, []byte("0123456789abcdef")), "re", value.Regex("^a", "i"), "min", value.MinKey(), "max", value.MaxKey(),
		"sym", value.Symbol("sym"), "code", value.Code("function(x) { return x + 1 }"),
		"sub", value.Document(value.NewDoc("a", value.Int32(1), "b", value.NewArray(value.Int32(1), value.Document(value.NewDoc("c", value.Int32(2)))))),
		"ref", value.Document(value.NewDoc("$ref", value.String("c"), "$id", value.Int32(1))))
}

// How scripts see the types, and how they print them: the shell's forms (mongod's
// types.js and the manual's pages on types in the shell).
func TestTypes(t *testing.T) {
	op := newEngine(t).Operation(Setup{})
	defer op.Close()
	for _, tt := range []struct{ source, want string }{
		{`typeof this.int + this.int`, `"number5"`},
		{`tojson(this.long) + (this.long + 1) + this.long.toNumber()`, `"NumberLong(7)87"`},
		{`tojson(this.big) + this.big.top + " " + this.big.bottom`, `"NumberLong("4611686018427387905")1073741824 1"`},
		{`tojson(this.dec)`, `"NumberDecimal("1.50")"`},
		{`this.str + this.str.length`, `"é😀3"`},
		{`this.null === null && this.nope === undefined`, `true`},
		{`tojson(this.oid) + this.oid.str + this.oid.getTimestamp().getTime()`, `"ObjectId("507f1f77bcf86cd799439011")507f1f77bcf86cd7994390111350508407000"`},
		{`this.oid.equals(ObjectId("507f1f77bcf86cd799439011")) && this.oid instanceof ObjectId && this.oid == "507f1f77bcf86cd799439011"`, `true`},
		{`tojson(this.date)`, `"ISODate("2020-01-02T03:04:05.678Z")"`},
		{`tojson(this.ts) + this.ts.t + this.ts.i + this.ts.getTime() + this.ts.getInc()`, `"Timestamp(4, 9)4949"`},
		{`tojson(this.bin) + this.bin.base64() + this.bin.hex() + this.bin.subtype() + this.bin.length()`, `"BinData(0,"aGk=")aGk=686902"`},
		{`tojson(this.uuid)`, `"UUID("30313233-3435-3637-3839-616263646566")"`},
		{`this.re instanceof RegExp && this.re.test("Ab") && tojson(this.re)`, `"/^a/i"`},
		{`tojson(this.min) + tojson(this.max) + this.min`, `"{ $minKey : 1 }{ $maxKey : 1 }[object MinKey]"`},
		{`this.sym`, `"sym"`},
		{`this.code(4)`, `5.0`},
		{`tojsononeline(this.sub)`, `"{  "a" : 1,  "b" : [ 1, { "c" : 2 } ] }"`},
		{`this.ref instanceof DBRef && this.ref.getCollection() + this.ref.getId()`, `"c1"`},
		{`tojson(this.ref)`, `"DBRef("c", 1)"`},
		{`Object.keys(this).join()`, `"int,long,big,double,dec,str,yes,null,oid,date,ts,bin,uuid,re,min,max,sym,code,sub,ref"`},
		{`var n = []; for (var k in this.sub) n.push(k); n.join()`, `"a,b"`},
		{`"int" in this && !("nope" in this) && this.hasOwnProperty("sub") && this.sub === this.sub`, `true`},
		{`JSON.stringify(this.sub)`, `"{"a":1,"b":[1,{"c":2}]}"`},
		{`tojson({})`, `"{ }"`},
		{`tojson({a: 1, b: "x"})`, `"{ "a" : 1, "b" : "x" }"`},
		{`tojson([])`, `"[ ]"`},
		{`tojson(UUID("00112233-4455-6677-8899-aabbccddeeff")) + tojson(MD5("00112233445566778899aabbccddeeff")) + tojson(HexData(0, "6869"))`,
			`"UUID("00112233-4455-6677-8899-aabbccddeeff")BinData(5,"ABEiM0RVZneImaq7zN3u/w==")BinData(0,"aGk=")"`},
		{`tojson(NumberInt("12")) + tojson(NumberLong("9223372036854775807")) + tojson(NumberLong(5)) + NumberLong(3).compare(NumberLong(4))`,
			`"NumberInt(12)NumberLong("9223372036854775807")NumberLong(5)-1"`},
		{`tojson(ISODate("2012-12-19T06:01:17.171Z")) + tojson(ISODate("2012-12-19")) + tojson(ISODate("20121219T060117+0100"))`,
			`"ISODate("2012-12-19T06:01:17.171Z")ISODate("2012-12-19T00:00:00Z")ISODate("2012-12-19T05:01:17Z")"`},
		{`[Array.sum([1, 2, 3]), Array.avg([1, 2]), Array.contains([1, "2"], 2), Array.unique([1, 1, 2]).length, Array.stdDev([1, 3])].join()`, `"6,1.5,true,2,1"`},
		{`hex_md5("hello")`, `"5d41402abc4b2a76b9719d911017c592"`},
		{`[isNumber(1), isString("x"), isObject({}), isNumber("1")].join()`, `"true,true,true,false"`},
		{`Object.bsonsize({}) + "," + Object.bsonsize({a: 1})`, `"5,16"`},
		{`bsonWoCompare({a: 1}, {a: 2}) < 0 && bsonWoCompare({a: 1}, {a: 1}) == 0 && bsonWoCompare({b: 1}, {a: 1}) > 0`, `true`},
		{`version()`, `"8.0.12"`},
		{`new Date().getTime() + (new Date(2020, 0, 1)).getTimezoneOffset()`, `1714979289000.0`},
		{`ObjectId().getTimestamp().getTime()`, `1714979289000.0`},
		{`ObjectId().str != ObjectId().str && /^[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}$/.test(UUID().hex())`, `true`},
		{`assert.eq([1, {a: 2}], [1, {a: 2}]); assert(true); assert.neq(1, 2); true`, `true`},
	} {
		v, err := op.Call(tt.source, sample())
		if err != nil || v.String() != tt.want {
			t.Errorf("%s: %s, %v; want %s", tt.source, v, err, tt.want)
		}
	}
}

// What a script leaves unchanged comes back byte by byte. What it changes keeps the types
// of BSON, and a field of type int that holds a whole number stays an int.
func TestReturned(t *testing.T) {
	op := newEngine(t).Operation(Setup{})
	defer op.Close()
	d := sample()
	v, err := op.Call("function() { this.sub.b; return this }", d)
	if err != nil {
		t.Fatal(err)
	}
	// The array was looked at, so its numbers come from JavaScript.
	if got := v.Doc().Lookup("sub").String(); got != "{ a: 1, b: [ 1.0, { c: 2 } ] }" {
		t.Error(got)
	}
	if v, err = op.Call("function() { return this }", d); err != nil || string(v.Doc()) != string(d) {
		t.Error(v, err)
	}
	for _, tt := range []struct{ source, want string }{
		{`this.sub.a = 3; delete this.sub.b; return this.sub`, `{ a: 3 }`},
		{`this.sub.a = 3.5; this.sub.b = 0; return this.sub`, `{ a: 3.5, b: 0.0 }`},
		{`this.sub.z = this.sub.a; return this.sub.z`, `1.0`},
		{`return [this.long, this.dec, this.oid, this.ts, this.bin, this.re, this.min, this.max, this.date]`,
			value.NewArray(d.Lookup("long"), d.Lookup("dec"), d.Lookup("oid"), d.Lookup("ts"), d.Lookup("bin"), d.Lookup("re"), d.Lookup("min"), d.Lookup("max"), d.Lookup("date")).String()},
		{`return {f: function(x) { return x }}`, value.Document(value.NewDoc("f", value.Code("function(x) { return x }"))).String()},
		{`return 12n`, `12`},
		{`return NaN`, `nan.0`},
		{`return "\ud800x"`, ``},
	} {
		v, err := op.Call("function() { "+tt.source+" }", d)
		if tt.want != "" && (err != nil || !strings.EqualFold(strings.TrimSuffix(v.String(), ".0"), strings.TrimSuffix(tt.want, ".0"))) {
			t.Errorf("%s: %s, %v; want %s", tt.source, v, err, tt.want)
		}
	}
}

func TestErrors(t *testing.T) {
	op := newEngine(t).Operation(Setup{})
	defer op.Close()
	for _, tt := range []struct {
		source string
		code   mongoerr.Code
		text   string
	}{
		{`nope`, 139, "ReferenceError: nope is not defined :\n@:1:"},
		{`throw "x"`, 139, "uncaught exception: x"},
		{`function f( {`, 139, "SyntaxError: "},
		{`function() {}()`, 10232, "not a function"},
		{`function f() { return 1 }, 5`, 10232, "not a function"},
		{`(function() { var a = {}; a.a = a; return a })()`, 17279, "Exceeded depth limit of 150 when converting js object to BSON. Do you have a cycle?"},
		{`emit(1)`, 31220, "emit takes 2 args"},
		{`try { emit(1) } catch (e) {} throw new Error("later")`, 139, "Error: later"},
		{`NumberLong("x")`, 139, `could not convert "x" to NumberLong`},
		{`assert.eq(1, 2, "why")`, 139, "[1] != [2] are not equal : why"},
	} {
		_, err := op.Call(tt.source, nil)
		if e := mongoerr.From(err); e == nil || e.Code != tt.code || !strings.Contains(e.Message, tt.text) {
			t.Errorf("%s: %v; want %d %s", tt.source, err, tt.code, tt.text)
		}
	}
}

// The text of a function may be a function, an expression or a body.
func TestNormalize(t *testing.T) {
	op := newEngine(t).Operation(Setup{})
	defer op.Close()
	for _, source := range []string{
		"2", "1 + 1;", " 2 ;; ", "return 2", "return 2;", "var x = 1; x + 1", "var x = 1\nx + 1", "if (true) { return 2 }", "/* c */ 2", "// c\n2",
		"function() { return 2 }", "function f(a) { return 2 }", "function() { return 2; };", "() => 2", "x => 2", "(a, b) => { return 2 }",
		"function one() { return 1 } one() + 1", "(function() { return 2 })()", "var o = {a: 2}; o.a", "[2][0]", "({a: 2}).a", "2 // c",
	} {
		if v, err := op.Call(source, nil); err != nil || v.AsDouble() != 2 {
			t.Errorf("%q: %s, %v", source, v, err)
		}
	}
}

func TestScopes(t *testing.T) {
	e := newEngine(t)
	read := 0
	setup := Setup{
		Stored: func() ([]Stored, error) {
			read++
			return []Stored{
				{"inc", value.Code("function(x) { return x + step }")}, {"step", value.Int32(3)}, {"broken", value.Code("function( {")},
			}, nil
		},
		Globals: value.NewDoc("g", value.Document(value.NewDoc("a", value.Int32(2)))),
	}
	a, b := e.Operation(setup), e.Operation(Setup{})
	defer a.Close()
	defer b.Close()
	for _, tt := range []struct {
		op     *Operation
		source string
		want   string
	}{
		{a, "inc(g.a)", "5.0"}, {a, "n = 1; Object.prototype.x = 1; n", "1.0"}, {a, "++n + ({}).x", "3.0"},
		{b, "typeof n + typeof inc + typeof g + ({}).x", `"undefinedundefinedundefinedundefined"`},
	} {
		if v, err := tt.op.Call(tt.source, nil); err != nil || v.String() != tt.want {
			t.Errorf("%s: %s, %v", tt.source, v, err)
		}
	}
	a.Close()
	if v, err := a.Call("typeof n + ({}).x", nil); err != nil || v.Str() != "undefinedundefined" || read != 2 {
		t.Error(v, err, read)
	}
	for range 3 { // scopes are used again, from the same beginning
		c := e.Operation(Setup{})
		if v, err := c.Call("n = typeof n; n", nil); err != nil || v.Str() != "undefined" {
			t.Error(v, err)
		}
		c.Close()
	}
}

func TestFoldAndEmit(t *testing.T) {
	op := newEngine(t).Operation(Setup{})
	defer op.Close()
	v, err := op.Emits("function() { emit(this.a, 1); emit(undefined, {x: this.a}) }", value.NewDoc("a", value.Int32(7)))
	if err != nil || v.String() != "[ { k: 7.0, v: 1.0 }, { k: null, v: { x: 7.0 } } ]" {
		t.Error(v, err)
	}
	calls := value.NewArray(value.NewArray(value.Int32(1), value.Int32(2)), value.NewArray(value.Int32(3), value.Int32(4)))
	if v, err = op.Fold("function(s, a, b) { return s + a * b }", false, value.Int32(1), calls); err != nil || v.AsDouble() != 15 {
		t.Error(v, err)
	}
	if v, err = op.Fold("function(a, b) { return a + b }", true, value.Int32(1), value.NewArray(value.Int32(2))); err != nil || v.AsDouble() != 3 {
		t.Error(v, err)
	}
}

func TestDisabled(t *testing.T) {
	e := newEngine(t)
	e.Disable()
	if _, err := e.Operation(Setup{}).Call("1", nil); !mongoerr.Is(err, 31264) || e.Name() != "none" {
		t.Error(err)
	}
	var none *Operation
	none.Close()
	if _, err := none.Call("1", nil); !mongoerr.Is(err, 31264) {
		t.Error(err)
	}
}

func TestTimeout(t *testing.T) {
	e := newEngine(t)
	e.TimeoutMS.Store(50)
	op := e.Operation(Setup{})
	defer op.Close()
	for _, source := range []string{"for (;;) {}", "sleep(100000)"} {
		if _, err := op.Call(source, nil); !mongoerr.Is(err, mongoerr.JSInterpreterFailure) || !strings.Contains(err.Error(), "Interrupted by the host") {
			t.Error(source, err)
		}
		op.Close()
	}
}

// FuzzRoundTrip: a document that a script looks into comes back as BSON that
// equals it but for the types of numbers.
func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte(sample()))
	f.Add([]byte(value.NewDoc("__proto__", value.Int32(1), "constructor", value.Document(value.NewDoc("a", value.Null())), "1", value.Int32(2), "", value.String(""))))
	e := newEngine(f)
	op := e.Operation(Setup{})
	f.Cleanup(op.Close)
	f.Fuzz(func(t *testing.T, b []byte) {
		if value.Validate(b) != nil {
			return
		}
		v, err := op.Call("function() { return this }", b)
		if err != nil || string(v.Doc()) != string(b) {
			t.Fatalf("%x: %v %v", b, v, err)
		}
		if _, err = op.Call("function() { var d = {}; for (var k in this) d[k] = this[k]; this[\"\"] = 1; return [d, this, tojson(this)] }", b); err != nil && mongoerr.From(err).Code == mongoerr.InternalError {
			t.Fatal(err)
		}
	})
}
