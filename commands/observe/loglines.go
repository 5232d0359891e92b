package observe

import (
	"bytes"
	"sync"
)

// LogLines keeps the last lines of the log for getLog. It is an io.Writer.
type LogLines struct {
	mu    sync.Mutex
	lines [maxLogLines]string // a ring
	first int                 // the oldest one
	count int
	bytes int   // size of all kept lines
	total int64 // number of lines ever written
}

// Bounds of what is kept, as in mongod.
const (
	maxLogLines = 1024
	maxLogBytes = 1 << 20
)

// Write implements io.Writer: one call is one line. Of a line over the bound of all of them,
// the beginning is kept.
func (l *LogLines) Write(p []byte) (int, error) {
	line := string(cutUTF8(bytes.TrimRight(p, "\n"), maxLogBytes))
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.count == maxLogLines || l.count > 0 && l.bytes+len(line) > maxLogBytes {
		l.bytes -= len(l.lines[l.first])
		l.lines[l.first] = ""
		l.first = (l.first + 1) % maxLogLines
		l.count--
	}
	l.lines[(l.first+l.count)%maxLogLines] = line
	l.count++
	l.total++
	l.bytes += len(line)
	return len(p), nil
}

// Last returns the lines, oldest first, and how many were ever written. A nil LogLines has
// none.
func (l *LogLines) Last() (lines []string, total int64) {
	if l == nil {
		return nil, 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.count {
		lines = append(lines, l.lines[(l.first+i)%maxLogLines])
	}
	return lines, l.total
}
