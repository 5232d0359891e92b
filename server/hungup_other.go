//go:build !unix

package server

import "net"

// hungUp is not supported on this system; the next write will fail instead.
func hungUp(net.Conn) bool { return false }
