package wire

import (
	"encoding/binary"
	"hash/crc32"
)

// BeginMsg appends the start of an OP_MSG up to where the body document
// follows. Append the body, then any sequences, then call FinishMsg with the
// length dst had before. With ChecksumPresent among the flags, FinishMsg adds
// the checksum.
func BeginMsg(dst []byte, requestID, responseTo int32, flags Flags) []byte {
	dst = appendHeader(dst, Header{RequestID: requestID, ResponseTo: responseTo, OpCode: OpMsg})
	dst = appendInt32(dst, int32(flags))
	return append(dst, kindBody)
}

// FinishMsg patches the length of the OP_MSG that starts at dst[start] and
// appends its checksum if its flags ask for one.
func FinishMsg(dst []byte, start int) []byte {
	if Flags(int32At(dst, start+HeaderSize))&ChecksumPresent == 0 {
		return finish(dst, start)
	}
	putInt32(dst[start:], int32(len(dst)-start+checksumSize)) // the checksum covers the final length
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

// AppendSequence appends s as a section of the message under construction.
func AppendSequence(dst []byte, s Sequence) []byte {
	dst = append(dst, kindSequence)
	dst = appendInt32(dst, int32(4+len(s.ID)+1+len(s.raw)))
	dst = append(dst, s.ID...)
	dst = append(dst, 0)
	return append(dst, s.raw...)
}

// BeginReply appends the start of an OP_REPLY with one document up to where
// that document follows; FinishReply ends it.
func BeginReply(dst []byte, requestID, responseTo int32, flags ReplyFlags) []byte {
	dst = appendHeader(dst, Header{RequestID: requestID, ResponseTo: responseTo, OpCode: OpReply})
	dst = appendInt32(dst, int32(flags))
	dst = binary.LittleEndian.AppendUint64(dst, 0) // cursor id
	dst = appendInt32(dst, 0)                      // starting from
	return appendInt32(dst, 1)                     // number of documents
}

// FinishReply patches the length of the OP_REPLY that starts at dst[start].
func FinishReply(dst []byte, start int) []byte { return finish(dst, start) }

// BeginQuery appends the start of an OP_QUERY up to where the query document
// follows, asking for one document; FinishQuery ends it.
func BeginQuery(dst []byte, requestID int32, flags QueryFlags, collection string) []byte {
	dst = appendHeader(dst, Header{RequestID: requestID, OpCode: OpQuery})
	dst = appendInt32(dst, int32(flags))
	dst = append(dst, collection...)
	dst = append(dst, 0)
	dst = appendInt32(dst, 0)   // number to skip
	return appendInt32(dst, -1) // number to return
}

// FinishQuery patches the length of the OP_QUERY that starts at dst[start].
func FinishQuery(dst []byte, start int) []byte { return finish(dst, start) }

func finish(dst []byte, start int) []byte {
	putInt32(dst[start:], int32(len(dst)-start))
	return dst
}
