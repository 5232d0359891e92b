package wire

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// Compressor is a compression method by its number in OP_COMPRESSED.
type Compressor uint8

// The compressors of MongoDB. Noop wraps a message without compressing it.
const (
	Noop   Compressor = 0
	Snappy Compressor = 1
	Zlib   Compressor = 2
	Zstd   Compressor = 3
	// Uncompressed means without OP_COMPRESSED.
	Uncompressed Compressor = 255
)

// codec is one compression method over byte slices.
type codec struct {
	name string
	// compress appends src, compressed, to dst.
	compress func(dst, src []byte) []byte
	// decompress fills dst exactly or fails; it never grows it.
	decompress func(dst, src []byte) error
}

// codecs is indexed by the Compressor.
var codecs = [...]codec{
	Noop:   {"noop", compressNoop, decompressNoop},
	Snappy: {"snappy", compressSnappy, decompressSnappy},
	Zlib:   {"zlib", compressZlib, decompressZlib},
	Zstd:   {"zstd", compressZstd, decompressZstd},
}

// String is the name by which hello negotiates the compressor.
func (c Compressor) String() string {
	if int(c) < len(codecs) {
		return codecs[c].name
	}
	return "uncompressed"
}

// CompressorByName finds a compressor that clients may negotiate in hello.
func CompressorByName(name string) (Compressor, bool) {
	for i, c := range codecs {
		if c.name == name && Compressor(i) != Noop {
			return Compressor(i), true
		}
	}
	return Uncompressed, false
}

// compressedHeader is the length of an OP_COMPRESSED before its data: header,
// original opcode, uncompressed size, compressor.
const compressedHeader = HeaderSize + 9

// AppendCompressed appends the finished message msg to dst as an
// OP_COMPRESSED. It appends msg unchanged for [Uncompressed], or if the result
// would be too long for a message.
func AppendCompressed(dst, msg []byte, c Compressor) []byte {
	if int(c) >= len(codecs) {
		return append(dst, msg...)
	}
	start := len(dst)
	h := parseHeader(msg)
	original := h.OpCode
	h.OpCode = OpCompressed
	dst = appendHeader(dst, h)
	dst = appendInt32(dst, int32(original))
	dst = appendInt32(dst, int32(len(msg)-HeaderSize))
	dst = append(dst, byte(c))
	dst = codecs[c].compress(dst, msg[HeaderSize:])
	if len(dst)-start > MaxMessageSize {
		return append(dst[:start], msg...)
	}
	return finish(dst, start)
}

// decompress unwraps the OP_COMPRESSED b into r.plain, as a message with its
// own header.
func (r *Reader) decompress(b []byte) ([]byte, Compressor, error) {
	if len(b) < compressedHeader {
		return nil, 0, fatal(CodeBadValue, "Invalid compressed message header")
	}
	h := parseHeader(b)
	h.OpCode = OpCode(int32At(b, HeaderSize))
	size := int64(int32At(b, HeaderSize+4))
	c := Compressor(b[HeaderSize+8])
	switch {
	case h.OpCode == OpCompressed:
		return nil, 0, fatal(CodeProtocolError, "OP_COMPRESSED inside OP_COMPRESSED")
	case int(c) >= len(codecs):
		return nil, 0, fatal(CodeInternalError, "Compression algorithm specified in message is not available")
	case size < 0 || size > MaxMessageSize-HeaderSize:
		return nil, 0, fatal(CodeBadValue, "Decompressed message would be larger than maximum message size")
	}
	h.Length = int32(HeaderSize + size)
	r.plain.reserve(int(h.Length))
	r.plain.b = appendHeader(r.plain.b[:0], h)[:h.Length]
	if err := codecs[c].decompress(r.plain.b[HeaderSize:], b[compressedHeader:]); err != nil {
		return nil, 0, err
	}
	return r.plain.b, c, nil
}

// Data that does not decompress, or not to the announced size.
var (
	errCorrupt = fatal(CodeBadValue, "Compressed message was invalid or corrupted")
	errSize    = fatal(CodeBadValue, "Decompressing message returned less data than expected")
)

func compressNoop(dst, src []byte) []byte { return append(dst, src...) }

func decompressNoop(dst, src []byte) error {
	if len(src) != len(dst) {
		return errSize
	}
	copy(dst, src)
	return nil
}

func compressSnappy(dst, src []byte) []byte {
	n := len(dst)
	need := n + snappy.MaxEncodedLen(len(src))
	if need > cap(dst) {
		dst = append(make([]byte, 0, need), dst...)
	}
	return dst[:n+len(snappy.Encode(dst[n:need:need], src))]
}

// decompressSnappy checks the announced size before it decompresses.
func decompressSnappy(dst, src []byte) error {
	n, err := snappy.DecodedLen(src)
	if err != nil {
		return errCorrupt
	}
	if n != len(dst) {
		return errSize
	}
	if n == 0 {
		return nil
	}
	if _, err := snappy.DecodeStrict(dst, src); err != nil {
		return errCorrupt
	}
	return nil
}

// appendWriter is an io.Writer that appends.
type appendWriter struct{ b []byte }

func (w *appendWriter) Write(p []byte) (int, error) {
	w.b = append(w.b, p...)
	return len(p), nil
}

// deflater and inflater hold zlib's state, which is large, between messages.
type deflater struct {
	out appendWriter
	w   *zlib.Writer
}

type inflater struct {
	in bytes.Reader
	r  io.ReadCloser
}

var (
	deflaters = sync.Pool{New: func() any {
		d := new(deflater)
		d.w = zlib.NewWriter(&d.out)
		return d
	}}
	inflaters = sync.Pool{New: func() any { return new(inflater) }}
)

func compressZlib(dst, src []byte) []byte {
	d := deflaters.Get().(*deflater)
	defer deflaters.Put(d)
	d.out.b = dst
	d.w.Reset(&d.out)
	_, _ = d.w.Write(src) // writing to memory cannot fail
	_ = d.w.Close()
	dst, d.out.b = d.out.b, nil
	return dst
}

// decompressZlib decompresses with a pooled inflater, and verifies the
// checksum.
func decompressZlib(dst, src []byte) error {
	z := inflaters.Get().(*inflater)
	defer inflaters.Put(z)
	defer z.in.Reset(nil)
	z.in.Reset(src)
	if err := z.reset(); err != nil {
		return errCorrupt
	}
	if _, err := io.ReadFull(z.r, dst); err != nil {
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return errSize
		}
		return errCorrupt
	}
	var more [1]byte // reading to the end verifies zlib's own checksum
	if n, err := io.ReadFull(z.r, more[:]); n > 0 {
		return errSize
	} else if err != io.EOF {
		return errCorrupt
	}
	return nil
}

// reset starts reading z.in from its zlib header.
func (z *inflater) reset() (err error) {
	if z.r == nil {
		z.r, err = zlib.NewReader(&z.in)
		return err
	}
	return z.r.(zlib.Resetter).Reset(&z.in, nil)
}

// zstdWindow limits the memory of an encoder; messages are rarely longer.
const zstdWindow = 1 << 20

// The zstd codecs serve all connections at once and are made on first use.
var (
	zstdEncoder = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderCRC(false),
			zstd.WithWindowSize(zstdWindow), zstd.WithLowerEncoderMem(true))
		if err != nil {
			panic(err) // the options above are constants and valid
		}
		return e
	})
	zstdDecoder = sync.OnceValue(func() *zstd.Decoder {
		d, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(MaxMessageSize),
			zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderConcurrency(0))
		if err != nil {
			panic(err) // the options above are constants and valid
		}
		return d
	})
)

func compressZstd(dst, src []byte) []byte { return zstdEncoder().EncodeAll(src, dst) }

func decompressZstd(dst, src []byte) error {
	out, err := zstdDecoder().DecodeAll(src, dst[:0:len(dst)])
	switch {
	case errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return errSize
	case err != nil:
		return errCorrupt
	case len(out) != len(dst):
		return errSize
	}
	return nil
}
