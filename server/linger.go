package server

import (
	"runtime"
	"time"
)

// linger decides whether a connection that has sent a reply reads again and again for a
// moment, instead of waiting for the poller at once. A thread that sleeps has to be woken
// for the next request, which can take longer than the request itself. Lingering pays for
// the only active client of a server, if it runs on another processor and sends its next
// request soon; if it shares the processor, or takes its time, it does not. As nothing
// tells which is the case, the connection tries both from time to time and keeps to what
// was faster.
//
// Lingering costs processor time, at most lingerFor after a request.
type linger struct {
	until    int64 // while it lingers, unix nanoseconds; else 0
	seen     int64 // requests of the server, when this connection had served its last one
	answered int64 // the same of the connection
	streak   int   // requests in a row that no other connection came between

	window  window
	on      bool  // the connection lingers after the requests of this window
	left    int   // requests until the window ends
	began   int64 // when it began, unix nanoseconds
	misses  int   // how often nothing has arrived within it
	without int64 // what the last trial without lingering took
	pays    bool  // the result of the last trial
	length  int   // of the window after it
}

// window is a number of requests that are treated alike.
type window int

const (
	settled window = iota
	trialWithout
	trialWith
)

const (
	lingerFor    = 100 * time.Microsecond
	lingerAfter  = 8  // requests in a row of one connection
	lingerTrial  = 64 // requests in a trial
	lingerMisses = 4  // in a window; more end it
	leastSettled = 512
	mostSettled  = 64 * leastSettled
)

var canLinger = runtime.NumCPU() > 1 && runtime.GOMAXPROCS(0) > 1

// begins decides whether a connection begins to linger. served and answered are the
// numbers of requests of the server and of the connection.
func (l *linger) begins(served, answered int64, now func() int64) bool {
	mine := answered - l.answered
	others := served - l.seen - mine
	l.seen, l.answered = served, answered
	switch {
	case mine == 0 || !canLinger: // it was woken in vain
		return false
	case others != 0:
		l.streak, l.window, l.left = 0, settled, 0
		return false
	case l.streak < lingerAfter:
		l.streak++
		return false
	}
	if l.left == 0 {
		l.turn(now())
	}
	l.left--
	return l.on
}

// turn begins the next window.
func (l *linger) turn(now int64) {
	took := now - l.began
	switch l.window {
	case settled:
		l.window, l.on, l.left = trialWithout, false, lingerTrial
	case trialWithout:
		l.without = took
		l.window, l.on, l.left = trialWith, true, lingerTrial
	case trialWith:
		pays := l.misses < lingerMisses && took < l.without/10*9
		if pays == l.pays {
			l.length = min(2*l.length, mostSettled)
		} else {
			l.length = 0
		}
		l.length = max(l.length, leastSettled)
		l.window, l.on, l.left = settled, pays, l.length
		l.pays = pays
	}
	l.began, l.misses = now, 0
}

// over notes whether a request arrived while the connection lingered, if it did.
func (l *linger) over(arrived bool) {
	if l.until == 0 {
		return
	}
	l.until = 0
	if arrived {
		return
	}
	if l.misses++; l.misses >= lingerMisses {
		l.left = 0 // it does not pay any more
	}
}
