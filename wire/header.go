package wire

import (
	"encoding/binary"
	"fmt"
)

// The limits a server announces in hello.
const (
	// MaxMessageSize is the largest message, header included.
	MaxMessageSize = 48_000_000
	// MaxDocumentSize is the largest document a user may store.
	MaxDocumentSize = 16 << 20
	// MaxInternalDocumentSize adds what MongoDB allows for the fields around
	// a full-sized document, as in an update command.
	MaxInternalDocumentSize = MaxDocumentSize + 16<<10
)

// HeaderSize is the length in bytes of a message header.
const HeaderSize = 16

// OpCode is the kind of a message.
type OpCode int32

// The opcodes of MongoDB. Only the first four are spoken; the others have
// been retired and are known by name for the sake of a clear error.
const (
	OpReply      OpCode = 1
	OpQuery      OpCode = 2004
	OpCompressed OpCode = 2012
	OpMsg        OpCode = 2013

	opUpdate      OpCode = 2001
	opInsert      OpCode = 2002
	opGetMore     OpCode = 2005
	opDelete      OpCode = 2006
	opKillCursors OpCode = 2007
)

var opCodeNames = map[OpCode]string{
	OpReply:       "OP_REPLY",
	OpQuery:       "OP_QUERY",
	OpCompressed:  "OP_COMPRESSED",
	OpMsg:         "OP_MSG",
	opUpdate:      "OP_UPDATE",
	opInsert:      "OP_INSERT",
	opGetMore:     "OP_GET_MORE",
	opDelete:      "OP_DELETE",
	opKillCursors: "OP_KILL_CURSORS",
}

// String is the opcode's name in MongoDB's documentation.
func (o OpCode) String() string {
	if name, ok := opCodeNames[o]; ok {
		return name
	}
	return fmt.Sprintf("opcode %d", int32(o))
}

// Header stands at the start of every message.
type Header struct {
	Length     int32  // length of the whole message with its header
	RequestID  int32  // chosen by the sender
	ResponseTo int32  // the RequestID this message answers
	OpCode     OpCode // what follows
}

// parseHeader reads a header from the first HeaderSize bytes of b.
func parseHeader(b []byte) Header {
	return Header{
		Length:     int32At(b, 0),
		RequestID:  int32At(b, 4),
		ResponseTo: int32At(b, 8),
		OpCode:     OpCode(int32At(b, 12)),
	}
}

// appendHeader appends h as 16 bytes.
func appendHeader(dst []byte, h Header) []byte {
	dst = appendInt32(dst, h.Length)
	dst = appendInt32(dst, h.RequestID)
	dst = appendInt32(dst, h.ResponseTo)
	return appendInt32(dst, int32(h.OpCode))
}

// checkLength refuses a length that no message can have.
func (h Header) checkLength() error {
	if h.Length < HeaderSize || h.Length > MaxMessageSize {
		return fatal(CodeProtocolError, "recv(): message msgLen %d is invalid. Min %d Max: %d",
			h.Length, HeaderSize, MaxMessageSize)
	}
	return nil
}

func int32At(b []byte, i int) int32 { return int32(binary.LittleEndian.Uint32(b[i:])) }

func appendInt32(dst []byte, v int32) []byte {
	return binary.LittleEndian.AppendUint32(dst, uint32(v))
}

func putInt32(b []byte, v int32) { binary.LittleEndian.PutUint32(b, uint32(v)) }
