package server

import (
	"io"
	"strings"
	"testing"
)

// The examples follow the PROXY protocol's specification: a line of text, or a signature
// with binary addresses. What comes after the header is left to the next reader.
func TestProxyHeader(t *testing.T) {
	t.Parallel()
	const v2 = "\r\n\r\n\x00\r\nQUIT\n"
	four := "\xc0\xa8\x00\x01\xc0\xa8\x00\x0b\xdc\x04\x01\xbb"
	six := "\x20\x01\x0d\xb8" + strings.Repeat("\x00", 11) + "\x01" + strings.Repeat("\x00", 15) + "\x01" + "\x00\x50\x01\xbb"
	for _, tt := range []struct{ header, client, server, err string }{
		{header: "PROXY TCP4 192.168.0.1 192.168.0.11 56324 443\r\n", client: "192.168.0.1:56324", server: "192.168.0.11:443"},
		{header: "PROXY TCP6 2001:db8::1 ::1 80 443\r\n", client: "[2001:db8::1]:80", server: "[::1]:443"},
		{header: "PROXY UNKNOWN\r\n"},
		{header: "PROXY UNKNOWN ffff::1 ffff::2 65535 65535\r\n"},
		{header: "PROXY TCP4 2001:db8::1 ::1 80 443\r\n", err: "malformed PROXY"},
		{header: "PROXY TCP4 192.168.0.1 192.168.0.11 56324 65536\r\n", err: "malformed PROXY"},
		{header: "PROXY TCP4 192.168.0.1 192.168.0.11 56324\r\n", err: "malformed PROXY"},
		{header: "PROXY UDP4 1.2.3.4 1.2.3.4 1 2\r\n", err: "malformed PROXY"},
		{header: "PROXY " + strings.Repeat("x", 200), err: "no end of line"},
		{header: "GET / HTTP/1.1\r\n\r\n", err: "initial bytes"},
		{header: v2 + "\x21\x11\x00\x0c" + four, client: "192.168.0.1:56324", server: "192.168.0.11:443"},
		{header: v2 + "\x21\x21\x00\x24" + six, client: "[2001:db8::1]:80", server: "[::1]:443"},
		{header: v2 + "\x21\x11\x00\x10" + four + "\x04\x00\x01\x00", client: "192.168.0.1:56324", server: "192.168.0.11:443"}, // with a TLV
		{header: v2 + "\x20\x11\x00\x0c" + four},                                                                               // the balancer itself, to see whether the server lives
		{header: v2 + "\x21\x00\x00\x00"},
		{header: v2 + "\x21\x31\x00\xd8" + strings.Repeat("/", 216)}, // sockets in the file system
		{header: v2 + "\x11\x11\x00\x0c" + four, err: "invalid version or command"},
		{header: v2 + "\x21\x41\x00\x0c" + four, err: "invalid family or protocol"},
		{header: v2 + "\x21\x13\x00\x0c" + four, err: "invalid family or protocol"},
		{header: v2 + "\x21\x11\x00\x04" + four[:4], err: "too short"},
		{header: v2 + "\x21\x11\x00\x0c" + four[:6], err: "unexpected EOF"},
		{header: "PROXY TCP4 1", err: "EOF"},
	} {
		r := strings.NewReader(tt.header + "REST")
		if tt.err != "" {
			r = strings.NewReader(tt.header)
		}
		p, err := readProxyHeader(r)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%q: %v, want %q", tt.header, err, tt.err)
			}
			continue
		}
		rest, _ := io.ReadAll(r)
		if err != nil || string(rest) != "REST" {
			t.Errorf("%q: %v, %q is left", tt.header, err, rest)
		}
		if p.client.IsValid() != (tt.client != "") || tt.client != "" && (p.client.String() != tt.client || p.server.String() != tt.server) {
			t.Errorf("%q: %v", tt.header, p)
		}
	}
}
