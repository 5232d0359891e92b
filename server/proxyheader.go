package server

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"strings"
)

// A load balancer begins each connection with a header of the PROXY protocol,
// version 1 or 2, which names the client.

// proxied are the addresses that a header names. They are not valid if the
// balancer does not know them, or has connected for itself.
type proxied struct{ client, server netip.AddrPort }

var errNoProxyHeader = errors.New("initial bytes do not form a PROXY protocol header")

const (
	proxyV1 = "PROXY"
	proxyV2 = "\r\n\r\n\x00\r\nQUIT\n"
	// maxProxyV1 is the greatest length of a header of version 1.
	maxProxyV1 = 107
)

// readProxyHeader reads a header, and nothing after it.
func readProxyHeader(r io.Reader) (p proxied, err error) {
	head := make([]byte, len(proxyV2), maxProxyV1)
	if _, err := io.ReadFull(r, head); err != nil {
		return p, err
	}
	switch {
	case string(head) == proxyV2:
		return readProxyV2(r)
	case bytes.HasPrefix(head, []byte(proxyV1)):
		return readProxyV1(r, head)
	}
	return p, errNoProxyHeader
}

// readProxyV1 reads the rest of a line of text that begins with head.
func readProxyV1(r io.Reader, head []byte) (p proxied, err error) {
	for !bytes.HasSuffix(head, []byte("\r\n")) {
		if len(head) == maxProxyV1 {
			return p, errors.New("no end of line in a PROXY protocol header of version 1")
		}
		n := len(head)
		head = head[:n+1]
		if _, err := io.ReadFull(r, head[n:]); err != nil {
			return p, err
		}
	}
	line := string(head[:len(head)-2])
	malformed := fmt.Errorf("malformed PROXY protocol header of version 1: %q", line)
	f := strings.Split(line, " ")
	if f[0] != proxyV1 || len(f) < 2 {
		return p, malformed
	}
	if f[1] == "UNKNOWN" {
		return p, nil
	}
	if len(f) != 6 || f[1] != "TCP4" && f[1] != "TCP6" {
		return p, malformed
	}
	client, ok1 := addressV1(f[2], f[4], f[1] == "TCP6")
	server, ok2 := addressV1(f[3], f[5], f[1] == "TCP6")
	if !ok1 || !ok2 {
		return p, malformed
	}
	return proxied{client, server}, nil
}

func addressV1(ip, port string, six bool) (a netip.AddrPort, ok bool) {
	addr, err := netip.ParseAddr(ip)
	if err != nil || addr.Is6() != six {
		return a, false
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return netip.AddrPortFrom(addr, uint16(n)), err == nil
}

// readProxyV2 reads the rest of a header of version 2, after the signature.
func readProxyV2(r io.Reader) (p proxied, err error) {
	var fixed [4]byte // version and command, family and protocol, length
	if _, err := io.ReadFull(r, fixed[:]); err != nil {
		return p, err
	}
	rest := make([]byte, binary.BigEndian.Uint16(fixed[2:]))
	if _, err := io.ReadFull(r, rest); err != nil {
		return p, err
	}
	command, family, protocol := fixed[0], fixed[1]>>4, fixed[1]&0xf
	const local, proxy = 0x20, 0x21
	switch {
	case command != local && command != proxy:
		return p, fmt.Errorf("invalid version or command in a PROXY protocol header of version 2: %#x", command)
	case command == local:
		return p, nil
	case family > 3 || protocol > 2:
		return p, fmt.Errorf("invalid family or protocol in a PROXY protocol header of version 2: %#x", fixed[1])
	case protocol == 0:
		return p, nil
	}
	size := map[byte]int{1: 4, 2: 16, 3: 108}[family]
	if len(rest) < 2*size+4 && family != 3 || len(rest) < 2*size {
		return p, errors.New("a PROXY protocol header of version 2 is too short for its addresses")
	}
	if family != 1 && family != 2 { // unspecified, or sockets in the file system
		return p, nil
	}
	at := func(i int) netip.AddrPort {
		ip, _ := netip.AddrFromSlice(rest[i*size : (i+1)*size])
		return netip.AddrPortFrom(ip, binary.BigEndian.Uint16(rest[2*size+2*i:]))
	}
	return proxied{at(0), at(1)}, nil
}
