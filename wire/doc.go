// Package wire implements MongoDB's wire protocol: it converts bytes to
// messages and back. It handles frames, sections, checksums and compression,
// but no commands.
//
// A message is a 16-byte header ([Header]) and a payload that depends on the
// opcode:
//
//   - OP_MSG ([Msg]) carries every command and reply: flags, one body
//     document and any number of document sequences, and a checksum if the
//     flags say so.
//   - OP_QUERY ([Query]) survives for the first message of a connection only;
//     OP_REPLY ([Reply]) answers it.
//   - OP_COMPRESSED wraps one of the above; [Reader] unwraps it unseen and
//     [AppendCompressed] wraps the reply in the same manner.
//
// # Reading
//
// A [Reader] reads one message at a time into a buffer that it reuses. What it
// returns aliases that buffer and is valid until the next read. Nothing is
// allocated for a small message.
//
// Nothing a peer announces is believed: a length is checked before memory is
// taken, the buffer of a huge message grows as its bytes arrive, and
// decompression never writes beyond the announced size. Documents are checked
// for length and terminator only: run [Msg.Validate] or [Query.Validate]
// before looking inside one.
//
// # Writing
//
// A message is appended to a byte slice and patched in place:
//
//	dst, start := buf.B, len(buf.B)
//	dst = wire.BeginMsg(dst, requestID, responseTo, 0)
//	dst = append(dst, body...)
//	dst = wire.FinishMsg(dst, start)
//
// so that several replies fit in one pooled [Buffer] and leave in one write.
//
// The package is for the rest of DuskDB: it may change with any version.
package wire
