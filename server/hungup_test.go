package server

import (
	"net"
	"testing"
)

func TestHungUp(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, unread := range []string{"", "farewell"} {
		client, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		nc, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if hungUp(nc) {
			t.Error("an open connection is taken for closed")
		}
		if _, err := client.Write([]byte(unread)); err != nil {
			t.Fatal(err)
		}
		_ = client.Close()
		for !hungUp(nc) { // the end arrives in a moment
		}
		_ = nc.Close()
	}
	a, b := net.Pipe()
	defer b.Close()
	if hungUp(a) {
		t.Error("a pipe counts as hung up")
	}
}
