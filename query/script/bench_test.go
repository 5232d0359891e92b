package script

import (
	"testing"

	"github.com/duskdb/duskdb/value"
)

func BenchmarkTest(b *testing.B) {
	e := newEngine(b)
	op := e.Operation(Setup{})
	defer op.Close()
	f, err := e.Compile("this.a > 5", nil)
	if err != nil {
		b.Fatal(err)
	}
	small := value.NewDoc("_id", value.Int32(1), "a", value.Int32(7), "s", value.String("some text"))
	large := value.NewBuilder()
	large.Int32("a", 7)
	for range 200 {
		large.String("some name", "a text of some length, as documents have them, and a little more of it")
	}
	for name, d := range map[string]value.Doc{"small": small, "large": large.Doc()} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if ok, err := op.Test(f, d); !ok || err != nil {
					b.Fatal(ok, err)
				}
			}
		})
	}
}

func BenchmarkOpen(b *testing.B) {
	e := newEngine(b)
	f, err := e.Compile("true", nil)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		op := e.Operation(Setup{})
		if ok, err := op.Test(f, value.EmptyDoc); !ok || err != nil {
			b.Fatal(ok, err)
		}
		op.Close()
	}
}
