package wire

import (
	"bytes"
	"errors"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/duskdb/duskdb/value"
)

// pingHex is {ping: 1, $db: "admin"} as an OP_MSG, written out by hand from
// the layout in the OP_MSG specification.
const pingHex = `
	33000000 01000000 00000000 dd070000
	00000000
	00 1e000000 10 70696e6700 01000000 02 24646200 06000000 61646d696e00 00`

func TestReadMsgByHand(t *testing.T) {
	m := readMsg(t, unhex(t, pingHex))
	if want := (Header{Length: 51, RequestID: 1, OpCode: OpMsg}); m.Header != want {
		t.Errorf("header %+v, want %+v", m.Header, want)
	}
	if want := doc(t, bson.D{{Key: "ping", Value: int32(1)}, {Key: "$db", Value: "admin"}}); !bytes.Equal(m.Body, want) {
		t.Errorf("body %x, want %x", m.Body, want)
	}
	if m.Flags != 0 || len(m.Sequences) != 0 || m.Compressor != Uncompressed {
		t.Errorf("flags %b, %d sequences, compressor %v", m.Flags, len(m.Sequences), m.Compressor)
	}
}

func TestWriteMsgByHand(t *testing.T) {
	b := BeginMsg(nil, 1, 0, 0)
	b = append(b, doc(t, bson.D{{Key: "ping", Value: int32(1)}, {Key: "$db", Value: "admin"}})...)
	if b = FinishMsg(b, 0); !bytes.Equal(b, unhex(t, pingHex)) {
		t.Errorf("got %x", b)
	}
}

// TestCRC32C uses the check value that the CRC catalogue gives for
// CRC-32/ISCSI, which is CRC-32C.
func TestCRC32C(t *testing.T) {
	if got := crc32.Checksum([]byte("123456789"), castagnoli); got != 0xe3069283 {
		t.Errorf("got %x", got)
	}
}

func TestSequences(t *testing.T) {
	docs := []value.Doc{doc(t, bson.D{{Key: "_id", Value: 1}}), doc(t, bson.D{}), doc(t, bson.D{{Key: "a", Value: "b"}})}
	body := doc(t, bson.D{{Key: "insert", Value: "c"}})
	first := NewSequence("documents", docs...)
	second := NewSequence("nsInfo")

	// The body may stand before, between or after the sequences.
	head := BeginMsg(nil, 7, 0, 0)
	head = head[:len(head)-1]
	section := append([]byte{kindBody}, body...)
	for name, b := range map[string][]byte{
		"body first":   message(0, body, first, second),
		"body between": AppendSequence(append(AppendSequence(slices.Clone(head), first), section...), second),
		"body last":    append(AppendSequence(AppendSequence(slices.Clone(head), first), second), section...),
	} {
		t.Run(name, func(t *testing.T) {
			m := readMsg(t, finish(b, 0))
			if !bytes.Equal(m.Body, body) {
				t.Errorf("body %x", m.Body)
			}
			s, ok := m.Sequence("documents")
			if !ok || s.Len() != 3 || !slices.EqualFunc(slices.Collect(s.Docs()), docs, func(a, b value.Doc) bool { return bytes.Equal(a, b) }) {
				t.Errorf("documents: %v %d %x", ok, s.Len(), s.Bytes())
			}
			if s, ok := m.Sequence("nsInfo"); !ok || s.Len() != 0 {
				t.Errorf("nsInfo: %v %d", ok, s.Len())
			}
			if _, ok := m.Sequence("updates"); ok {
				t.Error("found a sequence that is not there")
			}
		})
	}
}

func TestSequenceStopsEarly(t *testing.T) {
	s := NewSequence("x", value.EmptyDoc, value.EmptyDoc)
	n := 0
	for range s.Docs() {
		n++
		break
	}
	if n != 1 {
		t.Errorf("%d documents", n)
	}
	if s.Reset(); s.Len() != 0 || len(s.Bytes()) != 0 {
		t.Error("not empty after Reset")
	}
}

func TestFlags(t *testing.T) {
	for _, f := range []Flags{0, MoreToCome, ExhaustAllowed, ExhaustAllowed | MoreToCome, 1 << 17, 1 << 31, ChecksumPresent, ChecksumPresent | MoreToCome} {
		if m := readMsg(t, message(f, value.EmptyDoc)); m.Flags != f || !m.Has(f) {
			t.Errorf("flags %b, want %b", m.Flags, f)
		}
	}
	for bit := 2; bit < 16; bit++ {
		_, err := readOne(message(1<<bit, value.EmptyDoc))
		want := "Message contains illegal flags value: Ob" + strings.Repeat("0", 31-bit) + "1" + strings.Repeat("0", bit)
		checkError(t, err, CodeIllegalOpMsgFlag, want, true)
	}
}

func TestChecksum(t *testing.T) {
	b := message(ChecksumPresent, doc(t, bson.D{{Key: "ping", Value: 1}}))
	if int(parseHeader(b).Length) != len(b) {
		t.Errorf("length %d of %d", parseHeader(b).Length, len(b))
	}
	readMsg(t, b)
	for i := 4; i < len(b); i++ { // each byte after the length counts
		if i >= 12 && i < HeaderSize+4 {
			continue // opcode and flags break the message in ways of their own
		}
		bad := slices.Clone(b)
		bad[i] ^= 0x10
		_, err := readOne(bad)
		checkError(t, err, CodeChecksumMismatch, "OP_MSG checksum does not match contents", true)
	}
	// Two replies in one buffer: the checksum covers the second alone.
	both := BeginMsg(slices.Clone(b), 8, 7, ChecksumPresent)
	both = FinishMsg(append(both, value.EmptyDoc...), len(b))
	r := NewReader(bytes.NewReader(both))
	for range 2 {
		if _, err := r.ReadMessage(); err != nil {
			t.Fatal(err)
		}
	}
}

func checkError(t *testing.T, err error, code int32, message string, isFatal bool) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v, want code %d", err, code)
	}
	if e.Code != code || e.Message != message || e.Fatal != isFatal || IsFatal(err) != isFatal {
		t.Errorf("code %d fatal %v %q, want %d fatal %v %q", e.Code, e.Fatal, e.Message, code, isFatal, message)
	}
}

func TestMalformedMsg(t *testing.T) {
	flags := make([]byte, 4)
	body := append([]byte{kindBody}, value.EmptyDoc...)
	section := func(kind byte, rest ...byte) []byte { return append([]byte{kind}, rest...) }
	sequence := func(s Sequence) []byte { return AppendSequence(nil, s) }
	for _, c := range []struct {
		name    string
		payload [][]byte
		code    int32
		message string
		fatal   bool
	}{
		{"no flags", nil, CodeProtocolError, "OP_MSG of 16 bytes is too short", true},
		{"no section", [][]byte{flags}, CodeMissingBody, "OP_MSG messages must have a body", false},
		{"no body", [][]byte{flags, sequence(NewSequence("a"))}, CodeMissingBody, "OP_MSG messages must have a body", false},
		{"two bodies", [][]byte{flags, body, body}, CodeMultipleBodies, "Multiple body sections in message", false},
		{"section kind 2", [][]byte{flags, section(2, 5, 0, 0, 0, 0)}, CodeUnknownSectionKind, "Unknown section kind 2", false},
		{"section kind 255", [][]byte{flags, body, section(255)}, CodeUnknownSectionKind, "Unknown section kind 255", false},
		{"duplicate sequence", [][]byte{flags, body, sequence(NewSequence("a")), sequence(NewSequence("a"))},
			CodeDuplicateSequence, "Duplicate document sequence: a", false},
		{"three sequences", [][]byte{flags, body, sequence(NewSequence("a")), sequence(NewSequence("b")), sequence(NewSequence("c"))},
			CodeTooManyDocumentSequences, "Too many document sequences in OP_MSG", true},
		{"field in body and sequence", [][]byte{flags, section(0, doc(t, bson.D{{Key: "x", Value: bson.A{}}})...), sequence(NewSequence("x"))},
			CodeDuplicateField, "Duplicate field between body and document sequence x", false},
		{"dotted field in body and sequence", [][]byte{flags, section(0, doc(t, bson.D{{Key: "x", Value: bson.D{{Key: "y", Value: 1}}}})...), sequence(NewSequence("x.y"))},
			CodeDuplicateField, "Duplicate field between body and document sequence x.y", false},
		{"body of 3 bytes", [][]byte{flags, section(0, 3, 0, 0)}, CodeInvalidBSON, "BSON document is truncated: 3 bytes left", false},
		{"body length 4", [][]byte{flags, section(0, 4, 0, 0, 0)}, CodeBSONObjectTooLarge,
			"BSONObj size: 4 (0x4) is invalid. Size must be between 0 and 16793600(16MB)", false},
		{"body length -1", [][]byte{flags, section(0, 255, 255, 255, 255)}, CodeBSONObjectTooLarge,
			"BSONObj size: -1 (0xFFFFFFFF) is invalid. Size must be between 0 and 16793600(16MB)", false},
		{"body longer than message", [][]byte{flags, section(0, 6, 0, 0, 0, 0)}, CodeInvalidBSON,
			"BSON document of 6 bytes exceeds the 5 bytes left", false},
		{"body not terminated", [][]byte{flags, section(0, 5, 0, 0, 0, 1)}, CodeInvalidBSON, "BSON document is not terminated with EOO", false},
		{"sequence of 3 bytes", [][]byte{flags, body, section(1, 3, 0, 0)}, CodeInvalidBSON, "document sequence is truncated: 3 bytes left", false},
		{"sequence too long", [][]byte{flags, body, section(1, 9, 0, 0, 0, 'a', 0)}, CodeInvalidBSON,
			"document sequence of 9 bytes does not fit the 6 bytes left", false},
		{"sequence length 0", [][]byte{flags, body, section(1, 0, 0, 0, 0, 'a', 0)}, CodeInvalidBSON,
			"document sequence of 0 bytes does not fit the 6 bytes left", false},
		{"sequence without name", [][]byte{flags, body, section(1, 6, 0, 0, 0, 'a', 'b')}, CodeInvalidBSON,
			"document sequence has no terminated name", false},
		{"sequence with half a document", [][]byte{flags, body, section(1, 8, 0, 0, 0, 'a', 0, 5, 0)}, CodeInvalidBSON,
			"BSON document is truncated: 2 bytes left", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := readOne(frame(OpMsg, c.payload...))
			checkError(t, err, c.code, c.message, c.fatal)
			if (m == nil) != c.fatal {
				t.Errorf("message %v", m)
			}
			if m != nil && m.Head().RequestID != 7 {
				t.Errorf("cannot answer request %d", m.Head().RequestID)
			}
		})
	}
}

// TestDocumentLimit: 16 MiB and 16 KiB are allowed, one byte more is not. The
// message text is the one a mongod gives.
func TestDocumentLimit(t *testing.T) {
	big := func(n int) []byte {
		b := make([]byte, n)
		putInt32(b, int32(n))
		return b
	}
	if m := readMsg(t, message(0, big(16793600))); len(m.Body) != 16793600 {
		t.Errorf("body of %d bytes", len(m.Body))
	}
	_, err := readOne(message(0, big(16793601)))
	checkError(t, err, CodeBSONObjectTooLarge,
		"BSONObj size: 16793601 (0x1004001) is invalid. Size must be between 0 and 16793600(16MB)", false)
}
