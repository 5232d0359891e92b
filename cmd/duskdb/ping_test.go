package main

import "testing"

func TestPingTarget(t *testing.T) {
	for address, want := range map[string]string{
		"": "127.0.0.1:1", "h": "h:1", "h:2": "h:2", "mongodb://h/x?a=b": "h:1", "mongodb://h:2/": "h:2", "::1": "[::1]:1", "[::1]": "[::1]:1", "[::1]:2": "[::1]:2",
	} {
		if got := (&pingCmd{Address: address, Port: 1}).target(); got != want {
			t.Errorf("%q: %s, want %s", address, got, want)
		}
	}
}
