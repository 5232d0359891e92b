package wire

import (
	"fmt"
	"hash/crc32"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/duskdb/duskdb/value"
)

// Flags are the flag bits of an OP_MSG. A receiver must refuse an unknown bit
// among the low sixteen and ignore it among the high sixteen.
type Flags uint32

const (
	// ChecksumPresent: the message ends in a CRC-32C.
	ChecksumPresent Flags = 1 << 0
	// MoreToCome: of a request, no reply is wanted; of a reply, another one
	// follows unasked.
	MoreToCome Flags = 1 << 1
	// ExhaustAllowed: the client accepts replies with MoreToCome.
	ExhaustAllowed Flags = 1 << 16

	requiredFlags = 0xffff
	knownRequired = ChecksumPresent | MoreToCome
)

// The kinds of sections.
const (
	kindBody     = 0
	kindSequence = 1
)

// maxSequences is how many document sequences mongod takes in one message.
const maxSequences = 2

const checksumSize = 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Msg is an OP_MSG: a command or its reply.
type Msg struct {
	Header    Header
	Flags     Flags
	Body      value.Doc  // not validated but for its length
	Sequences []Sequence // document sequences in the order of the message

	// Compressor is how the message came; a reply goes back the same way.
	Compressor Compressor

	seqs [maxSequences]Sequence // what Sequences is a slice of
}

// Head is the message's header.
func (m *Msg) Head() Header { return m.Header }

// Has reports whether all bits of f are set.
func (m *Msg) Has(f Flags) bool { return m.Flags&f == f }

// Sequence returns the documents of that name.
func (m *Msg) Sequence(id string) (Sequence, bool) {
	for _, s := range m.Sequences {
		if s.ID == id {
			return s, true
		}
	}
	return Sequence{}, false
}

// parse reads flags, sections and checksum of the whole message b.
func (m *Msg) parse(b []byte) error {
	if len(b) < HeaderSize+4 {
		return fatal(CodeProtocolError, "OP_MSG of %d bytes is too short", len(b))
	}
	m.Flags = Flags(int32At(b, HeaderSize))
	if m.Flags&requiredFlags&^knownRequired != 0 {
		return fatal(CodeIllegalOpMsgFlag, "Message contains illegal flags value: Ob%032b", uint32(m.Flags))
	}
	sections := b[HeaderSize+4:]
	if m.Has(ChecksumPresent) {
		var err error
		if sections, err = checkChecksum(b); err != nil {
			return err
		}
	}
	if err := m.parseSections(sections); err != nil {
		return err
	}
	if m.Body == nil {
		return reject(CodeMissingBody, "OP_MSG messages must have a body")
	}
	return m.checkDuplicates()
}

// checkChecksum verifies the CRC-32C at the end of b, which covers all before
// it, and returns the sections.
func checkChecksum(b []byte) ([]byte, error) {
	end := len(b) - checksumSize
	if end < HeaderSize+4 || crc32.Checksum(b[:end], castagnoli) != uint32(int32At(b, end)) {
		return nil, fatal(CodeChecksumMismatch, "OP_MSG checksum does not match contents")
	}
	return b[HeaderSize+4 : end], nil
}

// parseSections slices b into body and sequences.
func (m *Msg) parseSections(b []byte) error {
	for len(b) > 0 {
		kind := b[0]
		b = b[1:]
		var (
			n   int
			err error
		)
		switch kind {
		case kindBody:
			n, err = m.parseBody(b)
		case kindSequence:
			n, err = m.parseSequence(b)
		default:
			err = reject(CodeUnknownSectionKind, "Unknown section kind %d", kind)
		}
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

func (m *Msg) parseBody(b []byte) (int, error) {
	if m.Body != nil {
		return 0, reject(CodeMultipleBodies, "Multiple body sections in message")
	}
	n, err := documentSize(b)
	if err != nil {
		return 0, err
	}
	m.Body = b[:n:n]
	return n, nil
}

// parseSequence parses a document sequence section and returns its length.
func (m *Msg) parseSequence(b []byte) (int, error) {
	if len(m.Sequences) == maxSequences {
		return 0, fatal(CodeTooManyDocumentSequences, "Too many document sequences in OP_MSG")
	}
	s, n, err := parseSequence(b)
	if err != nil {
		return 0, err
	}
	if _, dup := m.Sequence(s.ID); dup {
		return 0, reject(CodeDuplicateSequence, "Duplicate document sequence: %s", s.ID)
	}
	m.seqs[len(m.Sequences)] = s
	m.Sequences = m.seqs[:len(m.Sequences)+1]
	return n, nil
}

// checkDuplicates refuses a sequence whose name is in the body as well. The
// body has not been validated yet, so it is read with bounds checks; a broken
// one is left to the validation that follows.
func (m *Msg) checkDuplicates() error {
	for _, s := range m.Sequences {
		body := bsoncore.Document(m.Body)
		var err error
		if strings.IndexByte(s.ID, '.') < 0 {
			_, err = body.LookupErr(s.ID)
		} else {
			_, err = body.LookupErr(strings.Split(s.ID, ".")...)
		}
		if err == nil {
			return reject(CodeDuplicateField, "Duplicate field between body and document sequence %s", s.ID)
		}
	}
	return nil
}

// documentSize returns the length of the document at the start of b, after
// checking what can be checked without looking inside.
func documentSize(b []byte) (int, error) {
	if len(b) < 4 {
		return 0, reject(CodeInvalidBSON, "BSON document is truncated: %d bytes left", len(b))
	}
	n := int(int32At(b, 0))
	switch {
	case n < 5 || n > MaxInternalDocumentSize:
		return 0, reject(CodeBSONObjectTooLarge, "%s", tooLarge(n))
	case n > len(b):
		return 0, reject(CodeInvalidBSON, "BSON document of %d bytes exceeds the %d bytes left", n, len(b))
	case b[n-1] != 0:
		return 0, reject(CodeInvalidBSON, "BSON document is not terminated with EOO")
	}
	return n, nil
}

func tooLarge(n int) string {
	return fmt.Sprintf("BSONObj size: %d (0x%X) is invalid. Size must be between 0 and %d(%dMB)",
		n, uint32(n), MaxInternalDocumentSize, MaxDocumentSize>>20)
}
