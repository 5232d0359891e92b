package main

import (
	"runtime/debug"
	"testing"
)

func TestVersionOf(t *testing.T) {
	for _, tt := range []struct{ released, module, want string }{
		{"1.2.0", "v0.0.0-20260101000000-abcdefabcdef", "1.2.0"},
		{"", "v1.2.0", "1.2.0"},
		{"", "v1.2.1-0.20260101000000-abcdefabcdef+dirty", "1.2.1-0.20260101000000-abcdefabcdef+dirty"},
		{"", "v0.0.0-20260101000000-abcdefabcdef", next + "-dev"},
		{"", "(devel)", next + "-dev"},
		{"", "", next + "-dev"},
	} {
		got := versionOf(tt.released, func() (*debug.BuildInfo, bool) {
			return &debug.BuildInfo{Main: debug.Module{Version: tt.module}}, true
		})
		if got != tt.want {
			t.Errorf("released %q, module %q: %s, want %s", tt.released, tt.module, got, tt.want)
		}
	}
	if got := versionOf("", func() (*debug.BuildInfo, bool) { return nil, false }); got != next+"-dev" {
		t.Errorf("without information about the build: %s", got)
	}
}
