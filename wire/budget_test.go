package wire

import (
	"bytes"
	"errors"
	"testing"

	"github.com/duskdb/duskdb/value"
)

// ledger is a Budget that refuses to go beyond its limit.
type ledger struct{ limit, held, max int }

var errRefused = errors.New("refused")

func (l *ledger) Take(n int) error {
	if l.held+n > l.limit {
		return errRefused
	}
	l.held += n
	l.max = max(l.max, l.held)
	return nil
}

func (l *ledger) Give(n int) { l.held -= n }

func sized(size int, z Compressor) []byte {
	d := value.NewDoc("ping", value.String(string(make([]byte, size))), "$db", value.String("a"))
	b := BeginMsg(nil, 1, 0, 0)
	b = FinishMsg(append(b, d...), 0)
	return AppendCompressed(nil, b, z)
}

// TestBudget: large messages are paid for once the client has sent the first
// part of them, and with the next message they are paid back.
func TestBudget(t *testing.T) {
	l := &ledger{limit: 4 << 20}
	var in bytes.Buffer
	in.Write(sized(10, Uncompressed))
	in.Write(sized(1<<20, Uncompressed))
	in.Write(sized(1<<20, Zlib))
	in.Write(sized(3<<20, Snappy))
	r := NewReader(&in)
	r.SetBudget(l)
	for i, want := range []int{0, 1 << 20, 1 << 20, 3 << 20} {
		if _, err := r.ReadMessage(); err != nil {
			t.Fatal(err)
		}
		if l.held < want || l.held > want+want/8+100 {
			t.Errorf("message %d holds %d, want about %d", i, l.held, want)
		}
	}
	r.Release()
	if l.held != 0 {
		t.Errorf("%d left", l.held)
	}
}

func TestBudgetRefuses(t *testing.T) {
	for _, z := range []Compressor{Uncompressed, Zlib} {
		l := &ledger{limit: 1 << 20}
		r := NewReader(bytes.NewReader(sized(2<<20, z)))
		r.SetBudget(l)
		if _, err := r.ReadMessage(); !errors.Is(err, errRefused) {
			t.Errorf("%v: error %v", z, err)
		}
	}
	// A client that only announces a message gets no memory.
	l := &ledger{limit: 64 << 20}
	r := NewReader(bytes.NewReader(sized(2<<20, Uncompressed)[:firstChunk-1]))
	r.SetBudget(l)
	if _, err := r.ReadMessage(); err == nil || l.max != 0 {
		t.Errorf("error %v, took %d", err, l.max)
	}
}
