// Package freeport chooses ports for servers whose port must be known before they start,
// or must be the same after a restart. A server that needs neither listens on port 0.
//
// A port that the system chose for port 0 and that was closed again is anybody's: the
// system gives the same one to the next connection that leaves the machine, and two
// processes that ask can be given the same. The ports of this package lie below those that
// systems choose by themselves, and none is given out twice while the process that has it
// lives.
package freeport

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

// The ports that are given out. Linux gives connections 32768 and up, other systems 49152
// and up.
const (
	first = 10_000
	count = 22_000
)

// claimed keeps the claims of this process: a connection that nothing refers to would be
// closed by the garbage collector.
var claimed struct {
	sync.Mutex
	conns []net.PacketConn
}

// Claim returns a TCP port on which nothing listens, and which no other process that uses
// this package will choose until this one ends.
func Claim() (int, error) {
	var err error
	for range 1000 {
		port := first + rand.IntN(count)
		if err = claim(port); err == nil {
			return port, nil
		}
	}
	return 0, fmt.Errorf("no free port from %d to %d: %w", first, first+count-1, err)
}

// claim claims one port. The claim is a UDP socket of the same number: the kernel lets one
// process have it, frees it when that process ends however it ends, and does not mind a
// TCP listener beside it.
func claim(port int) error {
	address := fmt.Sprintf("127.0.0.1:%d", port)
	conn, err := net.ListenPacket("udp4", address)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp4", address)
	if err != nil {
		_ = conn.Close()
		return err
	}
	claimed.Lock()
	claimed.conns = append(claimed.conns, conn)
	claimed.Unlock()
	return l.Close()
}

// test is the part of testing.TB that For needs.
type test interface {
	Helper()
	Fatal(args ...any)
}

// For claims a port for a test.
func For(t test) int {
	t.Helper()
	port, err := Claim()
	if err != nil {
		t.Fatal(err)
	}
	return port
}
