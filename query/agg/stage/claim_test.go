package stage_test

import (
	"errors"
	"testing"

	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/expr"
)

// memory is an expr.Memory that counts claims and refuses more than it has.
type memory struct{ claimed, most int64 }

var errNoMemory = errors.New("no memory")

func (m *memory) Claim(n int64) error {
	if m.claimed += n; m.claimed > m.most {
		return errNoMemory
	}
	return nil
}
func (*memory) RangeBytes() int64 { return 0 }
func (*memory) MapBytes() int64   { return 0 }

// TestClaim: a stage claims its memory in steps, and the same memory once.
func TestClaim(t *testing.T) {
	m := &memory{most: 10 << 20}
	x := &stage.Exec{Env: expr.NewEnv(0)}
	var c stage.Claim
	if err := c.Grow(x, 100<<20); err != nil {
		t.Error("without limits:", err)
	}
	x.Env.Memory = m
	for _, s := range []struct{ size, want int64 }{{1000, 0}, {2 << 20, 2 << 20}, {2<<20 + 1, 2 << 20}, {0, 2 << 20}, {2 << 20, 2 << 20}, {4 << 20, 4 << 20}} {
		if err := c.Grow(x, s.size); err != nil || m.claimed != s.want {
			t.Errorf("%d bytes: %d claimed, %v, want %d", s.size, m.claimed, err, s.want)
		}
	}
	if err := c.Grow(x, 11<<20); !errors.Is(err, errNoMemory) {
		t.Errorf("a refused claim: %v", err)
	}
}
