package wire

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/wiremessage"
	"go.uber.org/goleak"

	"github.com/duskdb/duskdb/value"
)

var compressors = []Compressor{Noop, Snappy, Zlib, Zstd}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestCompressedRoundTrip(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 100_000)
	for i := range noise {
		noise[i] = byte(rnd.Uint32())
	}
	for _, z := range compressors {
		for name, v := range map[string]any{"small": 1, "text": strings.Repeat("tedious ", 100_000), "noise": noise} {
			t.Run(z.String()+" "+name, func(t *testing.T) {
				body := doc(t, bson.D{{Key: "v", Value: v}})
				plain := message(ChecksumPresent, body)
				b := AppendCompressed([]byte("prefix"), plain, z)[len("prefix"):]
				if h := parseHeader(b); h.OpCode != OpCompressed || int(h.Length) != len(b) || h.RequestID != 7 {
					t.Fatalf("header %+v of %d bytes", h, len(b))
				}
				m := readMsg(t, b)
				if m.Compressor != z || !bytes.Equal(m.Body, body) || int(m.Header.Length) != len(plain) {
					t.Errorf("compressor %v, header %+v", m.Compressor, m.Header)
				}
			})
		}
	}
}

// TestDriverAgrees compares with the official driver, in both directions.
func TestDriverAgrees(t *testing.T) {
	plain := message(0, doc(t, bson.D{{Key: "insert", Value: "c"}, {Key: "pad", Value: strings.Repeat("ab", 5000)}}))
	for _, z := range []Compressor{Snappy, Zlib, Zstd} {
		opts := driver.CompressionOpts{Compressor: wiremessage.CompressorID(z), ZlibLevel: 6, ZstdLevel: 6, UncompressedSize: int32(len(plain) - HeaderSize)}
		theirs, err := driver.CompressPayload(plain[HeaderSize:], opts)
		if err != nil {
			t.Fatal(err)
		}
		if m := readMsg(t, wrap(OpMsg, len(plain)-HeaderSize, z, theirs)); !bytes.Equal(m.Body, plain[HeaderSize+5:]) {
			t.Errorf("%v: the driver's compression is read differently", z)
		}
		ours := AppendCompressed(nil, plain, z)
		back, err := driver.DecompressPayload(ours[compressedHeader:], opts)
		if err != nil || !bytes.Equal(back, plain[HeaderSize:]) {
			t.Errorf("%v: the driver cannot read our compression: %v", z, err)
		}
	}
}

// wrap makes an OP_COMPRESSED of any content.
func wrap(op OpCode, size int, z Compressor, data []byte) []byte {
	b := appendInt32(appendInt32(nil, int32(op)), int32(size))
	return frame(OpCompressed, append(b, byte(z)), data)
}

func TestCompressedQuery(t *testing.T) {
	for _, z := range compressors {
		m, err := readOne(AppendCompressed(nil, unhex(t, isMasterHex), z))
		if err != nil {
			t.Fatal(err)
		}
		if q := m.(*Query); q.Compressor != z || q.Collection != "admin.$cmd" {
			t.Errorf("got %+v", q)
		}
	}
}

func TestUncompressed(t *testing.T) {
	plain := message(0, value.EmptyDoc)
	if b := AppendCompressed([]byte{1}, plain, Uncompressed); !bytes.Equal(b[1:], plain) {
		t.Errorf("got %x", b)
	}
}

// TestTooLongToCompress: a message that compression would make too long is sent as it is.
func TestTooLongToCompress(t *testing.T) {
	plain := make([]byte, MaxMessageSize)
	copy(plain, appendHeader(nil, Header{Length: MaxMessageSize, OpCode: OpMsg}))
	if b := AppendCompressed(nil, plain, Noop); len(b) != MaxMessageSize || parseHeader(b).OpCode != OpMsg {
		t.Errorf("%d bytes of %v", len(b), parseHeader(b).OpCode)
	}
}

// TestCompressedLies announces wrong sizes, for every compressor.
func TestCompressedLies(t *testing.T) {
	plain := message(0, doc(t, bson.D{{Key: "v", Value: strings.Repeat("x", 1000)}}))
	real := len(plain) - HeaderSize
	for _, z := range compressors {
		data := AppendCompressed(nil, plain, z)[compressedHeader:]
		for _, size := range []int{0, 1, real - 1, real + 1, MaxMessageSize - HeaderSize} {
			_, err := readOne(wrap(OpMsg, size, z, data))
			checkError(t, err, CodeBadValue, "Decompressing message returned less data than expected", true)
		}
		for _, size := range []int{-1, MaxMessageSize - HeaderSize + 1, 1<<31 - 1} {
			_, err := readOne(wrap(OpMsg, size, z, data))
			checkError(t, err, CodeBadValue, "Decompressed message would be larger than maximum message size", true)
		}
		for n := range data { // cut anywhere
			if _, err := readOne(wrap(OpMsg, real, z, data[:n])); err == nil || !IsFatal(err) {
				t.Errorf("%v: %d of %d bytes: %v", z, n, len(data), err)
			}
		}
	}
}

// TestBomb compresses the largest message into few bytes and announces less:
// the output never passes what was announced.
func TestBomb(t *testing.T) {
	bomb := make([]byte, MaxMessageSize-HeaderSize)
	for _, z := range []Compressor{Snappy, Zlib, Zstd} {
		data := codecs[z].compress(nil, bomb)
		if len(data) > len(bomb)/10 {
			t.Fatalf("%v: %d bytes are no bomb", z, len(data))
		}
		dst := make([]byte, 100, 200)
		if err := codecs[z].decompress(dst, data); !errors.Is(err, errSize) {
			t.Errorf("%v: %v", z, err)
		}
		if rest := dst[100:200]; !bytes.Equal(rest, make([]byte, 100)) {
			t.Errorf("%v wrote beyond the announced size", z)
		}
	}
}

func TestMalformedCompressed(t *testing.T) {
	for _, c := range []struct {
		name, message string
		b             []byte
		code          int32
	}{
		{"short", "Invalid compressed message header", frame(OpCompressed, make([]byte, 8)), CodeBadValue},
		{"unknown compressor", "Compression algorithm specified in message is not available", wrap(OpMsg, 5, 4, make([]byte, 5)), CodeInternalError},
		{"compressor 255", "Compression algorithm specified in message is not available", wrap(OpMsg, 5, 255, make([]byte, 5)), CodeInternalError},
		{"nested", "OP_COMPRESSED inside OP_COMPRESSED", wrap(OpCompressed, 5, Noop, make([]byte, 5)), CodeProtocolError},
		{"retired opcode", "OP_INSERT is no longer supported. The client driver may require an upgrade.", wrap(opInsert, 5, Noop, make([]byte, 5)), CodeUnsupportedOpCode},
		{"snappy garbage", "Compressed message was invalid or corrupted", wrap(OpMsg, 5, Snappy, []byte{5, 255, 255, 255}), CodeBadValue},
		{"zlib garbage", "Compressed message was invalid or corrupted", wrap(OpMsg, 5, Zlib, []byte{1, 2, 3, 4}), CodeBadValue},
		{"zstd garbage", "Compressed message was invalid or corrupted", wrap(OpMsg, 5, Zstd, []byte{1, 2, 3, 4, 5, 6}), CodeBadValue},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := readOne(c.b)
			if m != nil {
				t.Errorf("got %v", m)
			}
			checkError(t, err, c.code, c.message, true)
		})
	}
}

func TestCompressorNames(t *testing.T) {
	for name, want := range map[string]Compressor{"snappy": 1, "zlib": 2, "zstd": 3} {
		if z, ok := CompressorByName(name); z != want || !ok || z.String() != name {
			t.Errorf("%s: %d %v", name, z, ok)
		}
	}
	for _, name := range []string{"noop", "lz4", ""} { // noop is not on mongod's default list
		if _, ok := CompressorByName(name); ok {
			t.Errorf("%q can be negotiated", name)
		}
	}
}

// TestConcurrentCompression uses the shared codecs from many connections.
func TestConcurrentCompression(t *testing.T) {
	plain := message(0, doc(t, bson.D{{Key: "v", Value: strings.Repeat("xyz", 3000)}}))
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			z := compressors[i%len(compressors)]
			for range 20 {
				m, err := readOne(AppendCompressed(nil, plain, z))
				if err != nil || !bytes.Equal(m.(*Msg).Body, plain[HeaderSize+5:]) {
					t.Errorf("%v: %v", z, err)
				}
			}
		})
	}
	wg.Wait()
}
