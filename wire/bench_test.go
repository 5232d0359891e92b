package wire

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/duskdb/duskdb/value"
)

// loop yields b again and again.
type loop struct {
	b   []byte
	pos int
}

func (l *loop) Read(p []byte) (int, error) {
	n := copy(p, l.b[l.pos:])
	l.pos = (l.pos + n) % len(l.b)
	return n, nil
}

func benchmarkRead(b *testing.B, in []byte) {
	r := NewReader(&loop{b: in})
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.ReadMessage(); err != nil {
			b.Fatal(err)
		}
	}
}

func findCommand(b testing.TB) value.Doc {
	return doc(b, bson.D{{Key: "find", Value: "coll"}, {Key: "filter", Value: bson.D{{Key: "_id", Value: 1}}},
		{Key: "limit", Value: 1}, {Key: "$db", Value: "test"}})
}

func BenchmarkReadSmall(b *testing.B) { benchmarkRead(b, message(0, findCommand(b))) }

func BenchmarkReadSmallChecksum(b *testing.B) {
	benchmarkRead(b, message(ChecksumPresent, findCommand(b)))
}

func BenchmarkReadInsertMany(b *testing.B) {
	d := doc(b, bson.D{{Key: "_id", Value: 1}, {Key: "v", Value: strings.Repeat("x", 1000)}})
	s := Sequence{ID: "documents"}
	for range 1000 {
		s.Append(d)
	}
	benchmarkRead(b, message(0, doc(b, bson.D{{Key: "insert", Value: "c"}}), s))
}

func BenchmarkReadCompressed(b *testing.B) {
	plain := message(0, doc(b, bson.D{{Key: "v", Value: strings.Repeat("some text ", 200)}}))
	for _, z := range compressors {
		b.Run(z.String(), func(b *testing.B) { benchmarkRead(b, AppendCompressed(nil, plain, z)) })
	}
}

func BenchmarkWriteSmall(b *testing.B) {
	body := doc(b, bson.D{{Key: "ok", Value: 1.0}})
	b.ReportAllocs()
	for b.Loop() {
		buf := GetBuffer()
		buf.B = BeginMsg(buf.B, 1, 2, 0)
		buf.B = append(buf.B, body...)
		buf.B = FinishMsg(buf.B, 0)
		buf.Put()
	}
}

func BenchmarkWriteCompressed(b *testing.B) {
	plain := message(0, doc(b, bson.D{{Key: "v", Value: strings.Repeat("some text ", 200)}}))
	for _, z := range compressors {
		b.Run(z.String(), func(b *testing.B) {
			var out []byte
			b.ReportAllocs()
			for b.Loop() {
				out = AppendCompressed(out[:0], plain, z)
			}
		})
	}
}

// answers is a connection that has one reply to every request: the last
// request's id is copied into it.
type answers struct {
	reply []byte
	in    bytes.Reader
}

func (a *answers) Write(p []byte) (int, error) {
	copy(a.reply[8:12], p[4:8])
	a.in.Reset(a.reply)
	return len(p), nil
}

func (a *answers) Read(p []byte) (int, error) { return a.in.Read(p) }

func BenchmarkClientRoundTrip(b *testing.B) {
	c := NewClient(&answers{reply: message(0, doc(b, bson.D{{Key: "ok", Value: 1.0}}))})
	cmd := findCommand(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.RoundTrip(cmd); err != nil {
			b.Fatal(err)
		}
	}
}

// TestNoAllocations keeps what the benchmarks promise.
func TestNoAllocations(t *testing.T) {
	r := NewReader(&loop{b: message(0, findCommand(t))})
	if n := testing.AllocsPerRun(1000, func() { _, _ = r.ReadMessage() }); n != 0 {
		t.Errorf("reading allocates %v times", n)
	}
	body := doc(t, bson.D{{Key: "ok", Value: 1.0}})
	buf := GetBuffer()
	if n := testing.AllocsPerRun(1000, func() {
		b := BeginMsg(buf.B[:0], 1, 2, ChecksumPresent)
		buf.B = FinishMsg(append(b, body...), 0)
		_, _ = io.Discard.Write(buf.B)
	}); n != 0 {
		t.Errorf("writing allocates %v times", n)
	}
}
