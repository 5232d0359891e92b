//go:build !unix

package server

import "net"

// hungUp cannot be told on this system; the next write will.
func hungUp(net.Conn) bool { return false }
