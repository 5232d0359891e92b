package bunt

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
)

// errDamaged is what the scanner returns for bytes that no writer wrote. A
// file that ends too early gives io.ErrUnexpectedEOF.
var errDamaged = errors.New("damaged")

// maxBulk is longer than any key or value in a log.
const maxBulk = 64 << 20

// scanner reads the groups of a log: a stream of RESP commands "set key
// value" and "del key", of which one in each group sets the marker.
type scanner struct {
	r     *bufio.Reader
	off   int64 // bytes read
	nonce uint64
	hdr   bool
	key   []byte
	value []byte

	trusting bool                              // take markers of an unknown nonce
	keep     func(del bool, key, value []byte) // is shown each command but the marker
}

func newScanner(r io.Reader) *scanner {
	return &scanner{r: bufio.NewReaderSize(r, 1<<20)}
}

// group reads one group. At the end of the file it returns io.EOF.
func (s *scanner) group() (m marker, err error) {
	var raw []byte // the marker's value
	var n, sum uint64
	for raw == nil || n < uint64(m.ops) {
		del, err := s.command()
		if err == io.EOF && (n > 0 || raw != nil) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return m, err
		}
		switch {
		case string(s.key) != keyMarker:
			n++
			sum += opSum(del, s.key, s.value)
			if s.keep != nil {
				s.keep(del, s.key, s.value)
			}
		case raw != nil || del:
			return m, errDamaged
		default:
			raw = bytes.Clone(s.value)
			m, _ = decodeMarker(raw, s.nonce)
		}
		if string(s.key) == keyHeader && !del {
			if s.nonce, s.hdr = decodeHeader(s.value); !s.hdr {
				return m, errDamaged
			}
		}
	}
	m, ok := decodeMarker(raw, s.nonce)
	if !ok && !s.trusting || len(raw) != markerSize || n != uint64(m.ops) || sum != m.sum {
		return m, errDamaged
	}
	return m, nil
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

// inside is the error within a command: there, the end is unexpected.
func inside(err error) error {
	if err == io.EOF {
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
	case err == bufio.ErrBufferFull:
		return 0, errDamaged
	case err == io.EOF && len(line) > 0:
		return 0, io.ErrUnexpectedEOF
	case err != nil:
		return 0, err
	}
	if len(line) < 4 || line[0] != kind || line[len(line)-2] != '\r' {
		return 0, errDamaged
	}
	n := 0
	for _, c := range line[1 : len(line)-2] {
		if c < '0' || c > '9' || n > math.MaxInt32/16 {
			return 0, errDamaged
		}
		n = n*10 + int(c-'0')
	}
	return n, nil
}

// bulk reads a bulk string into buf.
func (s *scanner) bulk(buf []byte) ([]byte, error) {
	n, err := s.number('$')
	if err == nil && n > maxBulk {
		err = errDamaged
	}
	if err != nil {
		return buf, err
	}
	buf = buf[:0]
	for len(buf) < n+2 { // grow with what is really there
		start := len(buf)
		step := min(n+2-start, 1<<20)
		buf = append(buf, make([]byte, step)...)
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

// markerCommand is how the command that sets the marker begins.
var markerCommand = fmt.Appendf(nil, "*3\r\n$3\r\nset\r\n$1\r\n%s\r\n$%d\r\n", keyMarker, markerSize)

// findMarker looks for an intact marker in bytes that are not read as
// commands, and calls fn with each until it returns false.
func findMarker(r io.Reader, nonce uint64, fn func(m marker) bool) error {
	const keep = 128 // longer than a marker command
	buf := make([]byte, 0, 1<<20+keep)
	for {
		n, err := io.ReadFull(r, buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		rest := buf
		for {
			i := bytes.Index(rest, markerCommand)
			if i < 0 || len(rest)-i-len(markerCommand) < markerSize {
				break
			}
			rest = rest[i+len(markerCommand):]
			if m, ok := decodeMarker(rest[:markerSize], nonce); ok && !fn(m) {
				return nil
			}
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil
		}
		if err != nil {
			return err
		}
		tail := buf[len(buf)-min(keep, len(buf)):]
		buf = append(buf[:0], tail...)
	}
}
