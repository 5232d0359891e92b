package main

import "testing"

func TestPingTarget(t *testing.T) {
	for address, want := range map[string]string{
		"": "127.0.0.1:1", "h": "h:1", "mongodb://u:p@h:3/": "h:3", "h:2": "h:2", "mongodb://h/x?appName=b": "h:1", "mongodb://h:2/": "h:2", "::1": "[::1]:1", "[::1]": "[::1]:1", "[::1]:2": "[::1]:2",
	} {
		if got, err := (&pingCmd{Address: address, Port: 1}).target(); got != want || err != nil {
			t.Errorf("%q: %s, %v, want %s", address, got, err, want)
		}
	}
	for _, address := range []string{"h:0", "h:99999", "mongodb://h:x/", "mongodb://h/?a=b", "mongodb://h,i/"} {
		if got, err := (&pingCmd{Address: address, Port: 1}).target(); err == nil {
			t.Errorf("%q: %s", address, got)
		}
	}
}
