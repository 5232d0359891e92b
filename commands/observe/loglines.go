package observe

import (
	"sync"
)

// LogLines keeps the last lines of the log for getLog. It is an io.Writer.
type LogLines struct {
	mu    sync.Mutex
	lines []string
	next  int
}

// keptLines is how many lines getLog shows, as in mongod.
const keptLines = 1024

// Write implements io.Writer: one call is one line.
func (l *LogLines) Write(p []byte) (int, error) {
	line := string(p)
	for len(line) > 0 && line[len(line)-1] == '\n' {
		line = line[:len(line)-1]
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lines) < keptLines {
		l.lines = append(l.lines, line)
	} else {
		l.lines[l.next] = line
		l.next = (l.next + 1) % keptLines
	}
	return len(p), nil
}

// Last returns the lines, oldest first. A nil LogLines has none.
func (l *LogLines) Last() []string {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return append(append([]string(nil), l.lines[l.next:]...), l.lines[:l.next]...)
}
