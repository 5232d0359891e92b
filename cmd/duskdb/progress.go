package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/internal/plain"
)

// progress is a bar on terminals, and nothing elsewhere.
type progress struct {
	to          io.Writer // nil: nobody sees it
	clock       clock.Clock
	began       time.Time
	drawn       time.Time
	done, total int64 // total is -1 if it is unknown
	bytes       bool  // done counts bytes, not documents
}

// newProgress shows how much of size bytes are done; -1: unknown.
func newProgress(size int64, quiet bool) *progress {
	if quiet || !term.IsTerminal(int(os.Stderr.Fd())) {
		return &progress{}
	}
	return startProgress(os.Stderr, clock.System(), size, true)
}

// newCounter counts documents. total returns their number, or -1 if that is unknown; it is
// called only if the progress is shown.
func newCounter(quiet bool, total func() int) *progress {
	if quiet || !term.IsTerminal(int(os.Stderr.Fd())) {
		return &progress{}
	}
	return startProgress(os.Stderr, clock.System(), int64(total()), false)
}

func startProgress(to io.Writer, c clock.Clock, total int64, bytes bool) *progress {
	return &progress{to: to, clock: c, began: c.Now(), total: total, bytes: bytes}
}

// count sets the number of documents.
func (p *progress) count(documents int) { p.add(int64(documents) - p.done) }

// Write counts bytes.
func (p *progress) Write(b []byte) (int, error) {
	p.add(int64(len(b)))
	return len(b), nil
}

// redraw is how long a bar stands before it is drawn again.
const redraw = 100 * time.Millisecond

// add counts bytes or documents.
func (p *progress) add(n int64) {
	p.done += n
	if p.to == nil {
		return
	}
	if now := p.clock.Now(); now.Sub(p.drawn) >= redraw {
		p.drawn = now
		fmt.Fprintf(p.to, "\r%s\x1b[K", p)
	}
}

// String is the line of the bar.
func (p *progress) String() string {
	seconds := max(p.clock.Now().Sub(p.began).Seconds(), redraw.Seconds())
	line := p.amount(p.done)
	if p.total > 0 {
		const width = 40
		part := min(float64(p.done)/float64(p.total), 1)
		filled := int(part * width)
		line = fmt.Sprintf("%3.0f%% |%s%s| %s of %s", part*100, strings.Repeat("█", filled), strings.Repeat(" ", width-filled), line, p.amount(p.total))
	}
	return line + ", " + p.amount(int64(float64(p.done)/seconds)) + "/s"
}

// amount is a number of bytes or documents.
func (p *progress) amount(n int64) string {
	if !p.bytes {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// complain prints the error of a document, above the bar.
func (p *progress) complain(file string, err error) {
	if p.to != nil {
		fmt.Fprint(p.to, "\r\x1b[K")
		p.drawn = time.Time{}
	}
	fmt.Fprintf(os.Stderr, "%s: %s\n", file, plain.Text(err))
}

// end leaves the last state of the bar.
func (p *progress) end() {
	if p.to != nil {
		fmt.Fprintf(p.to, "\r%s\x1b[K\n", p)
	}
}
