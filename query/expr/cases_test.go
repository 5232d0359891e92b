package expr

import (
	"strings"
	"sync"
	"testing"

	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/internal/scripts"
	"github.com/duskdb/duskdb/value"
)

// neverFails are the operators that no argument makes fail.
var neverFails = strings.Fields(`$literal $const $type $isArray $isNumber $ifNull $eq $ne $gt $gte $lt $lte $cmp $and $or $not
	$toHashedIndexKey $min $max $sum $avg $stdDevPop $stdDevSamp $rand $bsonSize $binarySize $expr $mergeObjects`)

// coverage counts the cases of each operator that have run.
type coverage struct {
	mu              sync.Mutex
	cases, failures map[string]int
}

// TestCases runs the scripts of testdata/cases: the values of expressions for one document.
// tests/agg runs them through pipelines.
//
//	doc {a: 1}                   the document of the lines that follow
//	{$add: ["$a", 1]} => 2       the value, with its type; missing: none
//	{$add: ["$a", ""]} !! 14 x   the code, and the message if it is given
//	direct …                     a case that a pipeline answers otherwise
//	pipeline …                   a case that needs a server
//
// Every operator has at least three cases, one of them a failure unless it cannot fail.
func TestCases(t *testing.T) {
	ran := &coverage{cases: map[string]int{}, failures: map[string]int{}}
	t.Run("all", func(t *testing.T) { scripts.Play(t, "testdata/cases", ran.play) })
	can := map[string]bool{}
	for _, name := range neverFails {
		can[name] = true
	}
	for _, name := range Names() {
		if n := ran.cases[name]; n < 3 {
			t.Errorf("%s has %d cases, want 3", name, n)
		}
		if ran.failures[name] == 0 && !can[name] {
			t.Errorf("%s has no case that fails", name)
		}
	}
}

func (c *coverage) play(t *testing.T, version string) func(where, line string) {
	scope := scopeOf(t, version)
	var d value.Doc
	return func(where, line string) {
		if text, ok := strings.CutPrefix(line, "doc "); ok {
			d = parse(t, text).Doc()
			return
		}
		if strings.HasPrefix(line, "pipeline ") {
			return
		}
		one := scripts.Read(t, where, strings.TrimPrefix(line, "direct "))
		e := parse(t, one.What)
		got, err := runIn(t, scope, e, d)
		switch {
		case one.Fails():
			if e := mongoerr.From(err); err == nil || int32(e.Code) != one.Code || one.Want != "" && strings.TrimSpace(e.Message) != strings.TrimSpace(one.Want) {
				t.Errorf("%s: %s\n got %s (%v)\nwant %d %s", where, one.What, canonical(got), err, one.Code, one.Want)
			}
		case err != nil:
			t.Errorf("%s: %s: %v", where, one.What, err)
		default:
			if got, want := canonical(got), canonical(parse(t, one.Want)); got != want {
				t.Errorf("%s: %s\n got %s\nwant %s", where, one.What, got, want)
			}
		}
		c.count(e, one.Fails())
	}
}

// scopeOf is the root scope of expressions in a version of MongoDB.
func scopeOf(t *testing.T, version string) *Scope {
	d, ok := dialect.Speak(version)
	if !ok {
		t.Fatalf("the version %q", version)
	}
	return NewScope(d)
}

// count notes the operators of an expression.
func (c *coverage) count(e value.Value, fails bool) {
	seen := map[string]bool{}
	operatorsIn(e, seen)
	c.mu.Lock()
	defer c.mu.Unlock()
	for name := range seen {
		c.cases[name]++
		if fails {
			c.failures[name]++
		}
	}
}

func operatorsIn(v value.Value, seen map[string]bool) {
	if k := v.Kind(); k != value.KindDocument && k != value.KindArray {
		return
	}
	for name, e := range v.Doc().All() {
		if Has(name) {
			seen[strings.Clone(name)] = true
		}
		if name != "$literal" && name != "$const" {
			operatorsIn(e, seen)
		}
	}
}
