package bunt

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
)

// errDamaged is the scanner's error for bytes that the engine cannot have
// written. At the end of the file the error is io.ErrUnexpectedEOF.
var errDamaged = errors.New("damaged")

// maxGroup bounds the operations of one group.
const maxGroup = 1 << 30

// scanner reads the groups of a log: a stream of RESP commands "set g
// group".
type scanner struct {
	r      *bufio.Reader
	off    int64 // bytes read
	nonce  uint64
	hdr    bool   // a header was read
	header header // the last one
	begins bool   // whether the group read last is a header
	key    []byte
	value  []byte

	trusting bool // accept heads with an unknown nonce
	ops      []op // what the group read last has; the values are valid until the next
	room     []byte
}

// emptyRoom returns the room for values of a group that are not in one piece.
func (s *scanner) emptyRoom() *[]byte {
	s.room = s.room[:0]
	return &s.room
}

// readBytes is the size of a read of small groups. Larger ones are read directly to where
// they are decoded.
const readBytes = 128 << 10

func newScanner(r io.Reader) *scanner {
	return &scanner{r: bufio.NewReaderSize(r, readBytes)}
}

// group reads one group. At the end of the file it returns io.EOF.
func (s *scanner) group() (h head, err error) {
	del, err := s.command()
	if err != nil {
		return h, err
	}
	if del || string(s.key) != groupKey || len(s.value) < headSize {
		return h, errDamaged
	}
	return s.open(s.value)
}

// open checks a group and reads its operations.
func (s *scanner) open(group []byte) (h head, err error) {
	h, ok := parseHead(group, s.nonce)
	body := group[headSize:]
	if crc32.Checksum(body, castagnoli) != h.sum {
		return h, errDamaged
	}
	if s.ops, err = decodeOps(s.ops[:0], body, h.ops, s.emptyRoom()); err != nil {
		if errors.Is(err, errShort) {
			err = errDamaged
		}
		return h, err
	}
	if s.begins = len(s.ops) == 1 && s.ops[0].kind == opHeader; s.begins {
		hd, good := decodeHeader(s.ops[0].value)
		if !good {
			return h, errDamaged
		}
		if h, ok = parseHead(group, hd.nonce); ok {
			s.header, s.nonce, s.hdr = hd, hd.nonce, true
		}
	}
	if !ok && !s.trusting {
		return h, errDamaged
	}
	return h, nil
}

// command reads one command into key and value.
func (s *scanner) command() (del bool, err error) {
	n, err := s.number('*')
	if err != nil {
		return false, err
	}
	if n != 2 && n != 3 {
		return false, errDamaged
	}
	if s.key, err = s.bulk(s.key); err != nil {
		return false, inside(err)
	}
	del = string(s.key) == "del"
	if del != (n == 2) || !del && string(s.key) != "set" {
		return false, errDamaged
	}
	if s.key, err = s.bulk(s.key); err != nil {
		return false, inside(err)
	}
	s.value = s.value[:0]
	if !del {
		s.value, err = s.bulk(s.value)
	}
	return del, inside(err)
}

// inside converts an error within a command, where the end of the file is
// unexpected.
func inside(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// number reads a type byte, a decimal number and CR LF. At the end of the
// file, before the first byte, it returns io.EOF.
func (s *scanner) number(kind byte) (int, error) {
	line, err := s.r.ReadSlice('\n')
	s.off += int64(len(line))
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return 0, errDamaged
	case err == io.EOF && len(line) > 0:
		return 0, io.ErrUnexpectedEOF
	case err != nil:
		return 0, err
	}
	n, ok := parseNumber(kind, line)
	if !ok {
		return 0, errDamaged
	}
	return n, nil
}

// parseNumber reads a line of a type byte, a decimal number and CR LF.
func parseNumber(kind byte, line []byte) (n int, ok bool) {
	if len(line) < 4 || line[0] != kind || line[len(line)-2] != '\r' {
		return 0, false
	}
	for _, c := range line[1 : len(line)-2] {
		if c < '0' || c > '9' || n > math.MaxInt32/16 {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

// bulk reads a bulk string into buf.
func (s *scanner) bulk(buf []byte) ([]byte, error) {
	n, err := s.number('$')
	if err == nil && n > maxGroup+headSize {
		err = errDamaged
	}
	if err != nil {
		return buf, err
	}
	buf = buf[:0]
	for len(buf) < n+2 { // grow with what is really there
		start := len(buf)
		step := min(n+2-start, 1<<20)
		if cap(buf)-start < step {
			buf = append(buf, make([]byte, step)...)
		}
		buf = buf[:start+step]
		read, err := io.ReadFull(s.r, buf[start:])
		s.off += int64(read)
		if err != nil {
			return buf, inside(err)
		}
	}
	if buf[n] != '\r' || buf[n+1] != '\n' {
		return buf, errDamaged
	}
	return buf[:n], nil
}

// groupCommand is the beginning of the command that sets a group; the length
// of the group follows.
var groupCommand = fmt.Appendf(nil, "*3\r\n$3\r\nset\r\n$%d\r\n%s\r\n", len(groupKey), groupKey)

// headIn reads the head of a group from the bytes after groupCommand.
func headIn(b []byte, nonce uint64) (h head, ok bool) {
	end := bytes.IndexByte(b[:min(len(b), 16)], '\n')
	if end < 0 {
		return h, false
	}
	if n, ok := parseNumber('$', b[:end+1]); !ok || n < headSize {
		return h, false
	}
	return parseHead(b[end+1:], nonce)
}

// findHead looks for intact heads in bytes that are not read as commands,
// and calls fn with each until it returns false.
func findHead(r io.Reader, nonce uint64, fn func(h head) bool) error {
	return findAll(r, groupCommand, func(rest []byte) bool {
		h, ok := headIn(rest, nonce)
		return !ok || fn(h)
	})
}

// findAll calls fn with the bytes after each occurrence of a pattern, at least
// 64 of them unless the file ends, until fn returns false.
func findAll(r io.Reader, pattern []byte, fn func(rest []byte) bool) error {
	const behind = 64
	keep := len(pattern) + behind
	buf := make([]byte, 0, 1<<20+keep)
	for {
		n, err := io.ReadFull(r, buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		last := err == io.EOF || err == io.ErrUnexpectedEOF
		if err != nil && !last {
			return err
		}
		rest := buf
		for {
			i := bytes.Index(rest, pattern)
			if i < 0 || !last && len(rest)-i < keep {
				break
			}
			rest = rest[i+len(pattern):]
			if !fn(rest) {
				return nil
			}
		}
		if last {
			return nil
		}
		tail := rest[len(rest)-min(keep, len(rest)):]
		buf = append(buf[:0], tail...)
	}
}
