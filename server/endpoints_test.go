package server

import (
	"context"
	"slices"
	"testing"

	"github.com/rs/zerolog"
)

// What stands for one address is listened on once; names without an address are skipped.
func TestEndpoints(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		names []string
		six   bool
		want  []string // nil: there is none
	}{
		{nil, false, []string{"127.0.0.1"}},
		{[]string{"localhost", "127.0.0.1"}, false, []string{"127.0.0.1"}},
		{[]string{"127.0.0.1", " localhost"}, false, []string{"127.0.0.1"}},
		{[]string{"127.0.0.1", "127.0.0.1"}, false, []string{"127.0.0.1"}},
		{[]string{"127.0.0.1", ""}, false, []string{"127.0.0.1"}},
		{[]string{"::ffff:127.0.0.1", "127.0.0.1"}, false, []string{"127.0.0.1"}},
		{[]string{"::1", "localhost"}, true, []string{"::1", "127.0.0.1"}},
		{[]string{"localhost", "[::1]", "0:0:0:0:0:0:0:1"}, true, []string{"127.0.0.1", "::1"}},
		{[]string{"::1"}, false, []string{"::1"}},
		{[]string{"127.0.0.1", "0.0.0.0", "10.0.0.1", "/tmp/x.sock"}, false, []string{"0.0.0.0", "/tmp/x.sock"}},
		{[]string{"0.0.0.0", "::"}, true, []string{"0.0.0.0"}},
		{[]string{"/tmp/x.sock", "/tmp//x.sock"}, false, []string{"/tmp/x.sock"}},
		{[]string{"no-such-host.invalid", "127.0.0.1"}, false, []string{"127.0.0.1"}},
		{[]string{"no-such-host.invalid"}, false, nil},
		{[]string{""}, false, nil},
	} {
		s := &Server{config: Config{BindIP: tt.names, IPv6: tt.six}, log: zerolog.Nop(), ctx: context.Background()}
		list, err := s.resolve()
		if !slices.Equal(list, tt.want) || (err == nil) != (tt.want != nil) {
			t.Errorf("%q, IPv6 %t: %v, %v", tt.names, tt.six, list, err)
		}
	}
}

// A list with two names for one address is served.
func TestListensOnceOnAnAddress(t *testing.T) {
	t.Parallel()
	s, err := New(Config{BindIP: []string{"localhost", "127.0.0.1"}, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(context.Background())
	if n := len(s.Addrs()); n != 1 {
		t.Errorf("%d addresses: %v", n, s.Addrs())
	}
}
