package ttl

import (
	"math"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// checkErr compares an error with a code and a part of its message.
func checkErr(t *testing.T, what string, err error, code mongoerr.Code, fragment string) {
	t.Helper()
	if mongoerr.CodeOf(err) != code || err != nil && !strings.Contains(err.Error(), fragment) {
		t.Errorf("%s: %v, want code %d, %q", what, err, code, fragment)
	}
}

func field(json string) value.Value {
	return value.MustJSON(`{"v":` + json + `}`).Lookup("v")
}

func TestCollectionSeconds(t *testing.T) {
	now := t0.UnixMilli()
	tests := []struct {
		v        string
		want     int64
		code     mongoerr.Code
		fragment string
	}{
		{`10`, 10, 0, ""},
		{`0`, 0, 0, ""},
		{`10.7`, 10, 0, ""},
		{`{"$numberLong":"1767225600"}`, 1767225600, 0, ""},
		{`{"$numberLong":"1767225601"}`, 0, 72, "option cannot exceed time since last epoch"},
		{`-10`, 0, 72, "cannot be less than 0"},
		{`{"$numberLong":"4611686018427387904"}`, 0, 72, "cannot overflow int64_t when cast as milliseconds"},
		{`{"$numberDouble":"1e300"}`, 0, 72, "cannot overflow int64_t"},
		{`{"$numberDouble":"NaN"}`, 0, 0, ""}, // as in mongod
		{`{"$numberDecimal":"NaN"}`, 0, 0, ""},
		{`""`, 0, 14, "expireAfterSeconds"},
		{`{}`, 0, 14, ""},
		{`[]`, 0, 14, ""},
		{`true`, 0, 14, ""},
	}
	for _, tt := range tests {
		got, err := ParseCollectionSeconds(field(tt.v), now)
		checkErr(t, "create "+tt.v, err, tt.code, tt.fragment)
		if got != tt.want {
			t.Errorf("create %s: %d", tt.v, got)
		}
		if tt.v == `""` {
			continue
		}
		got, err = ParseCollModSeconds(field(tt.v), now)
		checkErr(t, "collMod "+tt.v, err, tt.code, tt.fragment)
		if got != tt.want {
			t.Errorf("collMod %s: %d", tt.v, got)
		}
	}
	if got, err := ParseCollModSeconds(field(`"off"`), now); got != Off || err != nil {
		t.Errorf("off: %d, %v", got, err)
	}
	_, err := ParseCollModSeconds(field(`"10"`), now)
	checkErr(t, "string", err, 72, "Accepted value is 'off'")
}

func TestIndexModSeconds(t *testing.T) {
	tests := []struct {
		v, key   string
		want     int64
		code     mongoerr.Code
		fragment string
	}{
		{`100`, `{"a":1}`, 100, 0, ""},
		{`10.9`, `{"a":1}`, 10, 0, ""},
		{`2147483647`, `{"a":1}`, 2147483647, 0, ""},
		{`"100"`, `{"a":1}`, 0, 14, ""},
		{`-1`, `{"a":1}`, 0, 72, "cannot be less than 0"},
		// coll_mod.idl reads a safeInt, which clamps, and rounds decimals.
		{`{"$numberLong":"2147483648"}`, `{"a":1}`, 2147483647, 0, ""},
		{`{"$numberDouble":"Infinity"}`, `{"a":1}`, 2147483647, 0, ""},
		{`{"$numberDecimal":"1E+40"}`, `{"a":1}`, 2147483647, 0, ""},
		{`50.6`, `{"a":1}`, 50, 0, ""},
		{`{"$numberDecimal":"50.6"}`, `{"a":1}`, 51, 0, ""},
		{`{"$numberDecimal":"50.5"}`, `{"a":1}`, 50, 0, ""},
		{`{"$numberDouble":"NaN"}`, `{"a":1}`, 0, 72, "must not be NaN"},
		{`1`, `{"_id":1}`, 0, 72, "the _id field does not support TTL indexes"},
		{`1`, `{"a":1,"b":1}`, 0, 72, "TTL indexes are single-field indexes, compound indexes do not support TTL"},
		{`-1`, `{"_ts":1}`, -1, 0, ""},
		{`5`, `{"_ts":1}`, 5, 0, ""},
		{`0`, `{"_ts":1}`, 0, 72, "_ts"},
		{`-2`, `{"_ts":1}`, 0, 72, "_ts"},
	}
	for _, tt := range tests {
		got, err := ParseIndexModSeconds(field(tt.v), value.MustJSON(tt.key))
		checkErr(t, tt.v+" "+tt.key, err, tt.code, tt.fragment)
		if got != tt.want {
			t.Errorf("%s %s: %d", tt.v, tt.key, got)
		}
	}
}

func TestDocumentOption(t *testing.T) {
	tests := []struct {
		v, want  string
		code     mongoerr.Code
		fragment string
	}{
		{`{"default":60}`, `{"default":60,"invalid":"reject","exposeTs":false}`, 0, ""},
		{`{"default":-1,"invalid":"ignore","exposeTs":true}`, `{"default":-1,"invalid":"ignore","exposeTs":true}`, 0, ""},
		{`{"default":20.0}`, `{"default":20,"invalid":"reject","exposeTs":false}`, 0, ""},
		{`{}`, "", 40414, "documentTtl.default"},
		{`5`, "", 14, ""},
		{`{"default":"5"}`, "", 14, ""},
		{`{"default":5,"invalid":"rejectNull"}`, `{"default":5,"invalid":"rejectNull","exposeTs":false}`, 0, ""},
		{`{"default":null,"invalid":"reject"}`, "", 0, ""},
		{`{"default":null,"other":1}`, "", 40415, "documentTtl.other"},
		{`{"default":0}`, "", 2, "The default time to live '0' is invalid"},
		{`{"default":-2}`, "", 2, "The default time to live '-2' is invalid"},
		{`{"default":20.5}`, "", 2, "The default time to live '20.5' is invalid"},
		{`{"default":2147483648}`, "", 2, "The default time to live '2147483648' is invalid"},
		{`{"default":1,"other":1}`, "", 40415, "documentTtl.other"},
		{`{"default":1,"invalid":"skip"}`, "", 2, "skip"},
		{`{"default":1,"invalid":1}`, "", 14, ""},
		{`{"default":1,"exposeTs":"x"}`, "", 14, ""},
	}
	for _, tt := range tests {
		p, err := ParseDocumentPolicy(field(tt.v))
		checkErr(t, tt.v, err, tt.code, tt.fragment)
		if p == nil {
			if err == nil && tt.want != "" {
				t.Errorf("%s: no policy", tt.v)
			}
			continue
		}
		if err == nil && p.Doc().JSON() != tt.want {
			t.Errorf("%s: %s", tt.v, p.Doc().JSON())
		}
		if err == nil && *LoadDocumentPolicy(value.Document(p.Doc())) != *p {
			t.Errorf("%s is not read back", tt.v)
		}
	}
}

func TestDocumentModify(t *testing.T) {
	on := &DocumentPolicy{Default: 5, Invalid: Ignore, ExposeTS: true}
	tests := []struct {
		old     *DocumentPolicy
		v, want string
		code    mongoerr.Code
	}{
		{on, `"off"`, "", 0},
		{on, `{"default":null}`, "", 0},
		{on, `{"default":7}`, `{"default":7,"invalid":"ignore","exposeTs":true}`, 0},
		{on, `{"invalid":"reject"}`, `{"default":5,"invalid":"reject","exposeTs":true}`, 0},
		{nil, `{"default":7}`, `{"default":7,"invalid":"reject","exposeTs":false}`, 0},
		{nil, `{"invalid":"reject"}`, "", 40414},
		{nil, `"on"`, "", 72},
		{on, `{"default":0}`, "", 2},
	}
	for _, tt := range tests {
		p, err := tt.old.Modify(field(tt.v))
		checkErr(t, tt.v, err, tt.code, "")
		got := ""
		if p != nil {
			got = p.Doc().JSON()
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.v, got, tt.want)
		}
	}
	if on.Default != 5 {
		t.Error("the old policy was changed")
	}
}

func TestIndexingPolicy(t *testing.T) {
	on := &DocumentPolicy{Default: 5}
	for _, tt := range []struct {
		v    string
		want IndexingMode
		code mongoerr.Code
	}{
		{`{"indexingMode":"consistent"}`, Consistent, 0}, {`{"indexingMode":"lazy"}`, Lazy, 0}, {`{"indexingMode":"none"}`, NoIndexing, 0},
		{`{"indexingMode":"Consistent"}`, Consistent, 0}, {`{"indexingMode":"None"}`, NoIndexing, 0},
		{`{}`, Consistent, 0}, {`{"indexingMode":"all"}`, "", 2}, {`{"indexingMode":1}`, "", 14}, {`{"x":1}`, "", 40415}, {`1`, "", 14},
	} {
		m, err := ParseIndexingPolicy("create", field(tt.v))
		checkErr(t, tt.v, err, tt.code, "")
		if m != tt.want {
			t.Errorf("%s: %s", tt.v, m)
		}
		if err == nil && m.Doc() != nil {
			if got := LoadIndexingMode(value.NewDoc("indexingPolicy", value.Document(m.Doc()))); got != m {
				t.Errorf("%s is read back as %s", m, got)
			}
		}
	}
	checkErr(t, "none", CheckIndexing(on, NoIndexing), 72, "TTL requires indexing")
	checkErr(t, "lazy", CheckIndexing(on, Lazy), 0, "")
	checkErr(t, "off", CheckIndexing(nil, NoIndexing), 0, "")
	checkErr(t, "index", NoIndexing.CheckCreateIndex(), 67, "")
	checkErr(t, "index", Consistent.CheckCreateIndex(), 0, "")
	if LoadIndexingMode(value.EmptyDoc) != Consistent || Consistent.Doc() != nil {
		t.Error("the default mode")
	}
}

// The matrix of the older articles on Cosmos DB has a row for ttl = null: the default
// applies, as if there were none. The present article and the service refuse it.
func TestNullIsNoTTL(t *testing.T) {
	for _, mode := range []Mode{Reject, Ignore} {
		p := &DocumentPolicy{Default: 10, Invalid: mode}
		d := value.MustJSON(`{"_id":1,"ttl":null}`)
		checkErr(t, string(mode), p.CheckWrite(d), 0, "")
		if at, ok := p.ExpiresAt(&storage.Record{Doc: d}); !ok || at != 10000 {
			t.Errorf("%s: expires at %d, %v", mode, at, ok)
		}
	}
	p := &DocumentPolicy{Default: 10, Invalid: RejectNull}
	checkErr(t, "rejectNull", p.CheckWrite(value.MustJSON(`{"_id":1,"ttl":null}`)), 2, "The input ttl 'null' is invalid.")
	checkErr(t, "no ttl", p.CheckWrite(value.MustJSON(`{"_id":1}`)), 0, "")
}

// A policy that is replaced expires nothing after its end.
func TestEndingPolicy(t *testing.T) {
	p := LoadDocumentPolicy(value.Document((&DocumentPolicy{Default: 10, Invalid: Reject}).EndingDoc(20000, "")))
	if p.Until != 20000 || p.Default != 10 || p.Invalid != Reject {
		t.Fatalf("%+v", p)
	}
	for ts, visible := range map[int64]bool{9000: false, 10000: false, 11000: true, 20000: true} {
		if got := p.Visible(&storage.Record{TS: ts, Doc: value.EmptyDoc}, 1e9); got != visible {
			t.Errorf("written at %d: visible %v", ts, got)
		}
	}
	c := newColl(t, openEngine(t), `{"documentTtl":{"default":10,"invalid":"reject","until":{"$date":"1970-01-01T00:00:20Z"}}}`)
	c.Put(9000, `{"_id":1}`)
	c.Put(11000, `{"_id":2}`, `{"_id":3,"ttl":5}`)
	c.View(func(coll storage.Collection) error {
		n, err := NewRules(coll.Info()).PendingPurge(coll, 1e9)
		if n != 2 {
			t.Error(n)
		}
		return err
	})
	if r := purged(c, 1e9); r.Documents != 2 || c.IDs() != "2 " {
		t.Errorf("%+v, left %s", r, c.IDs())
	}
	c.View(func(coll storage.Collection) error {
		if due := NewRules(coll.Info()).FirstHidden(coll); due != math.MaxInt64 {
			t.Error(due)
		}
		return nil
	})
}

func TestCheckWrite(t *testing.T) {
	reject, ignore := &DocumentPolicy{Default: 10, Invalid: Reject}, &DocumentPolicy{Default: 10, Invalid: Ignore}
	for _, tt := range []struct {
		ttl, shown string
		own        int64 // 0: not conforming
	}{
		{`20`, "", 20}, {`20.0`, "", 20}, {`{"$numberLong":"20"}`, "", 20}, {`-1`, "", -1}, {`2147483647`, "", 2147483647},
		{`0`, "0", 0}, {`-2`, "-2", 0}, {`20.5`, "20.5", 0}, {`2147483648`, "2147483648", 0},
		{`{"$numberLong":"2147483649"}`, "2147483649", 0}, {`"20"`, "20", 0}, {`true`, "true", 0}, {`{"$numberDecimal":"20"}`, "20", 0},
		{`{"$numberDouble":"NaN"}`, "nan", 0}, {`[]`, "[]", 0}, {`{}`, "{}", 0},
	} {
		d := value.MustJSON(`{"_id":1,"ttl":` + tt.ttl + `}`)
		r := &storage.Record{TS: 999, Doc: d}
		at, ok := reject.ExpiresAt(r)
		switch tt.own {
		case 0:
			checkErr(t, tt.ttl, reject.CheckWrite(d), 2, "The input ttl '"+tt.shown+"' is invalid. Ensure to provide a nonzero positive integer less than or equal to '2147483647', or '-1' which means never expire.")
			if !ok || at != 10000 {
				t.Errorf("%s: does not have the default", tt.ttl)
			}
		case -1:
			if ok {
				t.Errorf("%s expires", tt.ttl)
			}
			fallthrough
		default:
			checkErr(t, tt.ttl, reject.CheckWrite(d), 0, "")
			if ok && at != tt.own*1000 {
				t.Errorf("%s expires at %d", tt.ttl, at)
			}
		}
		checkErr(t, tt.ttl, ignore.CheckWrite(d), 0, "")
	}
	var off *DocumentPolicy
	checkErr(t, "off", off.CheckWrite(value.MustJSON(`{"ttl":0}`)), 0, "")
	checkErr(t, "missing", reject.CheckWrite(value.MustJSON(`{"TTL":0}`)), 0, "")
	if !off.Visible(&storage.Record{}, 1e15) {
		t.Error("hidden though the policy is off")
	}
}

// The instant itself is already too late, and seconds count from the whole
// second of the write.
func TestVisible(t *testing.T) {
	p := &DocumentPolicy{Default: 10}
	for _, tt := range []struct {
		ts, now int64
		want    bool
	}{{900, 9999, true}, {900, 10000, false}, {8500, 17999, true}, {8500, 18000, false}, {-1, 8999, true}, {-1, 9000, false}} {
		r := &storage.Record{TS: tt.ts, Doc: value.EmptyDoc}
		if got := p.Visible(r, tt.now); got != tt.want {
			t.Errorf("written at %d, visible at %d: %v", tt.ts, tt.now, got)
		}
	}
}

func TestTSField(t *testing.T) {
	r := &storage.Record{TS: 1999, Doc: value.MustJSON(`{"_id":1,"a":2}`)}
	shown := WithTS(r)
	if got := shown.CanonicalJSON(); got != `{"_id":{"$numberInt":"1"},"a":{"$numberInt":"2"},"_ts":{"$numberLong":"1"}}` {
		t.Error(got)
	}
	if got := StripTS(shown); string(got) != string(r.Doc) {
		t.Error(got)
	}
	if got := StripTS(r.Doc); &got[0] != &r.Doc[0] {
		t.Error("a document without _ts is copied")
	}
}

func TestTSIndex(t *testing.T) {
	tests := []struct {
		spec     string
		ok       bool
		n        int64
		code     mongoerr.Code
		fragment string
	}{
		{`{"key":{"_ts":1},"name":"_ts_1","expireAfterSeconds":10}`, true, 10, 0, ""},
		{`{"key":{"_ts":-1},"name":"x","expireAfterSeconds":-1}`, true, -1, 0, ""},
		{`{"key":{"_ts":1},"expireAfterSeconds":10.9}`, true, 10, 0, ""},
		{`{"key":{"_ts":1},"name":"_ts_1"}`, false, 0, 0, ""},
		{`{"key":{"x":1},"expireAfterSeconds":0}`, false, 0, 0, ""},
		{`{"key":{"_ts":1,"x":1},"expireAfterSeconds":0}`, false, 0, 0, ""},
		{`{"key":{"_ts":1},"expireAfterSeconds":0}`, true, 0, 67, "-1 or from 1"},
		{`{"key":{"_ts":1},"expireAfterSeconds":0.5}`, true, 0, 67, ""},
		{`{"key":{"_ts":1},"expireAfterSeconds":-2}`, true, 0, 67, ""},
		{`{"key":{"_ts":1},"expireAfterSeconds":2147483648}`, true, 0, 67, "must be within the range of a 32-bit integer"},
		{`{"key":{"_ts":1},"expireAfterSeconds":"1"}`, true, 0, 67, "option must be numeric, but received a type of 'string'"},
		{`{"key":{"_ts":1},"expireAfterSeconds":{"$numberDouble":"NaN"}}`, true, 0, 67, "option must not be NaN"},
		{`{"key":{"_ts":1},"expireAfterSeconds":1,"unique":true}`, true, 0, 67, "unique"},
		{`{"key":{"_ts":1},"expireAfterSeconds":1,"sparse":true}`, true, 0, 67, "sparse"},
		{`{"key":{"_ts":1},"expireAfterSeconds":1,"partialFilterExpression":{}}`, true, 0, 67, "partialFilterExpression"},
		{`{"key":{"_ts":1},"expireAfterSeconds":1,"collation":{"locale":"de"}}`, true, 0, 67, "collation"},
	}
	for _, tt := range tests {
		p, ok, err := ParseTSIndex(value.MustJSON(tt.spec))
		checkErr(t, tt.spec, err, tt.code, tt.fragment)
		if ok != tt.ok {
			t.Errorf("%s: ok is %v", tt.spec, ok)
		}
		if p != nil && (p.Default != tt.n || p.Invalid != Ignore || p.ExposeTS) {
			t.Errorf("%s: %+v", tt.spec, p)
		}
	}
	p := &DocumentPolicy{Default: -1}
	if got := p.TSIndex().JSON(); got != `{"v":2,"key":{"_ts":1},"name":"_ts_1","expireAfterSeconds":-1}` {
		t.Error(got)
	}
	checkErr(t, "same", p.CompareTSIndex(&DocumentPolicy{Default: -1}), 0, "")
	checkErr(t, "other", p.CompareTSIndex(&DocumentPolicy{Default: 9}), 85, "An equivalent index already exists")
	checkErr(t, "strict", CheckStrict(value.MustJSON(`{"key":{"x":1},"expireAfterSeconds":1}`)), 2, "The 'expireAfterSeconds' option is supported on '_ts' field only.")
	checkErr(t, "strict", CheckStrict(value.MustJSON(`{"key":{"_ts":1},"expireAfterSeconds":1}`)), 0, "")
	checkErr(t, "strict", CheckStrict(value.MustJSON(`{"key":{"x":1}}`)), 0, "")
}

func TestOnExpireOption(t *testing.T) {
	ns := storage.Namespace{DB: "db", Coll: "c"}
	tests := []struct {
		v    string
		code mongoerr.Code
	}{
		{`{"deadLetterTo":"dead"}`, 0}, {`{}`, 40414}, {`5`, 14}, {`{"deadLetterTo":5}`, 14}, {`{"deadLetterTo":"d","x":1}`, 40415},
		{`{"deadLetterTo":""}`, 73}, {`{"deadLetterTo":"a$b"}`, 73}, {`{"deadLetterTo":".x"}`, 73}, {`{"deadLetterTo":"system.x"}`, 72},
		{`{"deadLetterTo":"c"}`, 72}, {`"off"`, 14}, {`{"deadLetterTo":"` + strings.Repeat("x", 255) + `"}`, 73},
	}
	for _, tt := range tests {
		o, err := ParseOnExpire("create", ns, field(tt.v))
		checkErr(t, tt.v, err, tt.code, "")
		if err == nil {
			if back := LoadOnExpire(value.NewDoc("onExpire", value.Document(o.Doc()))); *back != *o {
				t.Errorf("%s is read back as %+v", tt.v, back)
			}
		}
	}
	if o, err := ParseOnExpire("collMod", ns, field(`"off"`)); o != nil || err != nil {
		t.Error(o, err)
	}
	if LoadOnExpire(value.EmptyDoc) != nil {
		t.Error("onExpire out of nothing")
	}
}

func TestCombinations(t *testing.T) {
	user := storage.Namespace{DB: "db", Coll: "c"}
	tests := []struct {
		ns      storage.Namespace
		options string
		code    mongoerr.Code
	}{
		{user, `{}`, 0},
		{user, `{"documentTtl":{"default":1}}`, 0},
		{user, `{"documentTtl":{"default":1},"capped":true,"size":1}`, 72},
		{user, `{"documentTtl":{"default":1},"capped":false}`, 0},
		{user, `{"documentTtl":{"default":1},"viewOn":"x"}`, 72},
		{user, `{"documentTtl":{"default":1},"messageQueue":{}}`, 72},
		{user, `{"documentTtl":{"default":1},"clusteredIndex":{},"expireAfterSeconds":1}`, 0},
		{user, `{"documentTtl":{"default":1},"validator":{}}`, 0},
		{user, `{"messageQueue":{},"capped":true}`, 72},
		{user, `{"messageQueue":{},"validator":{}}`, 72},
		{user, `{"messageQueue":{},"clusteredIndex":{}}`, 72},
		{user, `{"messageQueue":{},"timeseries":{}}`, 72},
		{user, `{"expireAfterSeconds":1}`, 72},
		{user, `{"expireAfterSeconds":1,"clusteredIndex":false}`, 72},
		{user, `{"expireAfterSeconds":1,"timeseries":{}}`, 0},
		{storage.Namespace{DB: "admin", Coll: "system.x"}, `{"documentTtl":{"default":1}}`, 72},
		{storage.Namespace{DB: "config", Coll: "x"}, `{"documentTtl":{"default":1}}`, 72},
		{storage.Namespace{DB: "local", Coll: "oplog.rs"}, `{"documentTtl":{"default":1}}`, 72},
		{storage.Namespace{DB: "local", Coll: "oplog.rs"}, `{}`, 0},
	}
	for _, tt := range tests {
		checkErr(t, tt.options, CheckCombination(tt.ns, value.MustJSON(tt.options)), tt.code, "")
	}
	ttl := value.MustJSON(`{"key":{"x":1},"expireAfterSeconds":1}`)
	ts := value.MustJSON(`{"key":{"_ts":1},"expireAfterSeconds":1}`)
	checkErr(t, "queue", CheckTTLIndex(user, value.MustJSON(`{"messageQueue":{}}`), ttl), 67, "")
	checkErr(t, "capped clustered", CheckTTLIndex(user, value.MustJSON(`{"capped":true,"clusteredIndex":{}}`), ttl), 6049202, "")
	checkErr(t, "capped", CheckTTLIndex(user, value.MustJSON(`{"capped":true}`), ttl), 0, "")
	checkErr(t, "capped _ts", CheckTTLIndex(user, value.MustJSON(`{"capped":true}`), ts), 72, "")
	checkErr(t, "plain index", CheckTTLIndex(user, value.MustJSON(`{"messageQueue":{}}`), value.MustJSON(`{"key":{"x":1}}`)), 0, "")
	for ns, code := range map[storage.Namespace]mongoerr.Code{
		{DB: "config", Coll: "tenantMigrationDonors"}: 0, {DB: "config", Coll: "system.x"}: 72, {DB: "admin", Coll: "system.x"}: 72, {DB: "admin", Coll: "x"}: 0,
		{DB: "local", Coll: "oplog.rs"}: 72, {DB: "local", Coll: "x"}: 72,
	} {
		checkErr(t, ns.String(), CheckTTLIndex(ns, value.EmptyDoc, ttl), code, "")
	}
	checkErr(t, "_ts in config", CheckTTLIndex(storage.Namespace{DB: "config", Coll: "x"}, value.EmptyDoc, ts), 72, "")
}
