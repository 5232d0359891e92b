package bunt

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// The log is a chain of files, which hold one sequence of groups: the base, and numbered ones
// behind it. A start, or a compaction, goes on in a new file, so that BuntDB opens empty files
// and does not read what the engine has read already; only a small last file is opened again.
// A compaction writes a new base, which says behind which commit it stands and the number of
// the file that goes on from there; files with lower numbers are what an interruption has left.

// header is the first operation of each file.
type header struct {
	nonce  uint64 // the nonce of the file
	number uint32 // the number of the file; 0: the base
	next   uint32 // in a base, the number of the file behind it, whether or not it exists
	after  uint64 // in a file behind the base, the number of the group before it; in a base, that of the last group it stands for, 0 if it holds them all
	// followed reports of a base whether the file behind it must exist.
	followed bool
}

// segment is a file of the chain.
type segment struct {
	path   string
	number uint32
	file   *os.File
	begin  int64 // where the file begins in the chain
	size   int64
}

// chain is the files of a log, as one sequence of bytes.
type chain struct {
	base     string
	segments []segment
	left     []string // files that a compaction has made superfluous
	size     int64
}

// segmentPath is the path of a numbered file of the log with a base.
func segmentPath(base string, number uint32) string {
	if number == 0 {
		return base
	}
	return base + "." + strconv.FormatUint(uint64(number), 10)
}

// openChain opens the files of a log. It returns os.ErrNotExist if there are none, and a
// DamageError with the chain of the others if one is missing.
func openChain(base string, flag int) (*chain, error) {
	c := &chain{base: base}
	numbers, err := numbersOf(base)
	if err != nil {
		return nil, err
	}
	var missing error
	var hd header
	next := uint32(1)
	if err := c.open(0, flag); err == nil {
		if base, ok := headerOf(c.segments[0].file); ok {
			hd, next = base, base.next
		}
	} else if errors.Is(err, os.ErrNotExist) && len(numbers) > 0 {
		missing = &DamageError{Path: base, Missing: true}
		next = numbers[0]
	} else {
		return nil, err
	}
	miss := func() {
		if missing == nil {
			missing = &DamageError{Path: segmentPath(base, next), Offset: c.size, Missing: true}
		}
	}
	for _, n := range numbers {
		if n < next && len(c.segments) == 1 {
			c.left = append(c.left, segmentPath(base, n))
			continue
		}
		if n != next {
			miss()
		}
		if err := c.open(n, flag); err != nil {
			c.close()
			return nil, err
		}
		next = n + 1
	}
	if hd.followed && len(c.segments) == 1 {
		miss()
	}
	return c, missing
}

func (c *chain) open(number uint32, flag int) error {
	s := segment{path: segmentPath(c.base, number), number: number, begin: c.size}
	var err error
	if s.file, err = os.OpenFile(s.path, flag, 0); err != nil {
		return err
	}
	st, err := s.file.Stat()
	if err != nil {
		return errors.Join(err, s.file.Close())
	}
	s.size = st.Size()
	c.segments = append(c.segments, s)
	c.size += s.size
	return nil
}

// numbersOf lists the numbers of the files beside a base, in their order.
func numbersOf(base string) ([]uint32, error) {
	entries, err := os.ReadDir(filepath.Dir(base))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var numbers []uint32
	for _, e := range entries {
		if n := numberOf(filepath.Base(base), e.Name()); n > 0 {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, err
}

// numberOf is the number in the name of a file of a log, 0 in other names.
func numberOf(base, name string) uint32 {
	if len(name) <= len(base)+1 || name[:len(base)] != base {
		return 0
	}
	n, err := strconv.ParseUint(name[len(base)+1:], 10, 32)
	if err != nil || base+"."+strconv.FormatUint(n, 10) != name {
		return 0
	}
	return uint32(n)
}

// headerOf reads the header of a file.
func headerOf(f *os.File) (header, bool) {
	s := newScanner(io.NewSectionReader(f, 0, tornHeader))
	_, err := s.group()
	return s.header, err == nil && s.hdr
}

// last is the file that was written last.
func (c *chain) last() *segment { return &c.segments[len(c.segments)-1] }

// at returns the file that has a byte, or the end, of the chain.
func (c *chain) at(off int64) *segment {
	for i := len(c.segments) - 1; i > 0; i-- {
		if off >= c.segments[i].begin {
			return &c.segments[i]
		}
	}
	return &c.segments[0]
}

// ReadAt implements io.ReaderAt.
func (c *chain) ReadAt(b []byte, off int64) (n int, err error) {
	for n < len(b) && off < c.size {
		s := c.at(off)
		m, err := s.file.ReadAt(b[n:min(int64(len(b)), int64(n)+s.begin+s.size-off)], off-s.begin)
		n, off = n+m, off+int64(m)
		if err != nil && err != io.EOF || m == 0 {
			return n, err
		}
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// reader reads all files one after the other.
func (c *chain) reader() *io.SectionReader { return io.NewSectionReader(c, 0, c.size) }

// damaged says where in its file something of the chain is damaged.
func (c *chain) damaged(d *DamageError) *DamageError {
	s := c.at(d.Offset)
	d.Path, d.within = s.path, d.Offset-s.begin
	return d
}

// cut removes what follows a position of the last file.
func (c *chain) cut(off int64) error {
	s := c.last()
	if off < s.begin {
		return fmt.Errorf("%s: its end is in another file", s.path)
	}
	if err := s.file.Truncate(off - s.begin); err != nil {
		return err
	}
	s.size, c.size = off-s.begin, off
	return s.file.Sync()
}

func (c *chain) close() {
	for i := range c.segments {
		_ = c.segments[i].file.Close()
	}
}
