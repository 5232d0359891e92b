package expr

import (
	"testing"
)

const benchDoc = `{_id: 1, name: 'somebody', qty: 12, price: 3.5, disc: 0.1, tags: ['a', 'b', 'c'], at: date('2020-02-29T12:00:00Z'),
	item: {code: 'x1', sizes: [{h: 1}, {h: 2}]}, status: 'A', total: dec('12.25')}`

func BenchmarkEval(b *testing.B) {
	d := parse(b, benchDoc).Doc()
	for _, c := range []struct{ name, expr string }{
		{"path", `'$status'`},
		{"dotted", `'$item.code'`},
		{"add", `{$add: ['$qty', 1]}`},
		{"formula", `{$multiply: ['$qty', '$price', {$subtract: [1, '$disc']}]}`},
		{"compare", `{$and: [{$gt: ['$qty', 10]}, {$eq: ['$status', 'A']}]}`},
		{"cond", `{$cond: [{$gte: ['$qty', 10]}, '$price', 0]}`},
		{"decimal", `{$multiply: ['$total', 2]}`},
		{"year", `{$year: '$at'}`},
		{"yearInZone", `{$year: {date: '$at', timezone: 'America/New_York'}}`},
		{"dateToString", `{$dateToString: {date: '$at', format: '%Y-%m-%d'}}`},
		{"dateTrunc", `{$dateTrunc: {date: '$at', unit: 'month'}}`},
		{"map", `{$map: {input: '$item.sizes', in: '$$this.h'}}`},
		{"concat", `{$concat: ['$name', '-', '$status']}`},
		{"regexMatch", `{$regexMatch: {input: '$name', regex: '^some'}}`},
		{"toString", `{$toString: '$qty'}`},
		{"object", `{a: '$qty', b: '$price'}`},
		{"sin", `{$sin: '$price'}`},
		{"exp", `{$exp: '$disc'}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			e, err := Compile(parse(b, c.expr), nil)
			if err != nil {
				b.Fatal(err)
			}
			env := NewEnv(testNow)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Eval(env, d); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	v := parse(b, `{$cond: [{$gt: ['$qty', 10]}, {$multiply: ['$price', {$subtract: [1, '$disc']}]}, '$price']}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compile(v, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// The simplest expressions allocate nothing.
func TestNoAllocations(t *testing.T) {
	d := parse(t, benchDoc).Doc()
	for _, s := range []string{`'$item.code'`, `{$add: ['$qty', 1]}`, `{$multiply: ['$qty', '$price', {$subtract: [1, '$disc']}]}`, `{$and: [{$gt: ['$qty', 10]}, {$eq: ['$status', 'A']}]}`, `{$cond: [{$gte: ['$qty', 10]}, '$price', 0]}`, `{$year: '$at'}`, `{$dateTrunc: {date: '$at', unit: 'month'}}`, `{$mod: ['$qty', 5]}`, `{$ifNull: ['$zz', '$qty']}`, `{$in: ['a', '$tags']}`} {
		e := compile(t, s, nil)
		env := NewEnv(testNow)
		if n := testing.AllocsPerRun(100, func() { _, _ = e.Eval(env, d) }); n != 0 {
			t.Errorf("%s allocates %v times", s, n)
		}
	}
}
