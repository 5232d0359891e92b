package server

import (
	"runtime"
	"time"
)

// linger decides whether a connection that has sent a reply reads again for a moment,
// instead of waiting for the poller. A thread that sleeps has to be woken by the next
// request, which can take longer than the request. Therefore the only client of a server
// that answers at once finds it awake.
//
// Lingering costs processor time, up to lingerFor after a request. It is done only if the
// last requests of the server all came from this connection and the process has a
// processor to spare, and the less often the more often it was in vain.
type linger struct {
	until    int64 // while it lingers, unix nanoseconds; else 0
	seen     int64 // requests of the server, when this connection had served its last one
	answered int64 // the same of the connection
	streak   int   // requests in a row that no other connection came between
	skips    int   // requests until it may linger again
	pause    int   // requests without lingering after one more failure
}

const (
	lingerFor   = 50 * time.Microsecond
	lingerAfter = 8 // requests in a row of one connection
	mostSkips   = 256
)

var canLinger = runtime.NumCPU() > 1 && runtime.GOMAXPROCS(0) > 1

// begins decides whether a connection begins to linger. served and answered are the
// numbers of requests of the server and of the connection.
func (l *linger) begins(served, answered int64) bool {
	others := served - l.seen - (answered - l.answered)
	mine := answered - l.answered
	l.seen, l.answered = served, answered
	switch {
	case mine == 0: // it was woken in vain
		return false
	case others != 0:
		l.streak = 0
		return false
	case l.streak < lingerAfter:
		l.streak++
		return false
	case l.skips > 0:
		l.skips--
		return false
	}
	return canLinger
}

// over notes whether a request arrived while the connection lingered, if it did.
func (l *linger) over(arrived bool) {
	switch {
	case l.until == 0:
		return
	case arrived:
		l.pause /= 2
	default:
		l.pause = min(2*l.pause+1, mostSkips)
		l.skips = l.pause
	}
	l.until = 0
}
