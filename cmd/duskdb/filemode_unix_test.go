//go:build unix

package main

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

func TestProtectFiles(t *testing.T) {
	before := syscall.Umask(0o022)
	defer syscall.Umask(before)
	for _, tt := range []struct {
		params string
		mode   os.FileMode
		mask   int
		fail   string
	}{
		{"", 0o600, 0o077, ""},
		{"honorSystemUmask=false", 0o600, 0o077, ""},
		{"honorSystemUmask=true", 0o644, 0o022, ""},
		{"processUmask=027", 0o640, 0o027, ""},
		{"processUmask=0002", 0o664, 0o002, ""},
		{"processUmask=0777", 0o600, 0o077, ""}, // the owner's bits are the system's
		{"processUmask=8", 0, 0o022, "octal"},
		{"processUmask=1777", 0, 0o022, "octal"},
		{"honorSystemUmask=perhaps", 0, 0o022, "honorSystemUmask"},
		{"honorSystemUmask=true processUmask=027", 0, 0o022, "together"},
	} {
		syscall.Umask(0o022)
		params, err := parseParameters(strings.Fields(tt.params))
		if err != nil {
			t.Fatal(err)
		}
		mode, err := protectFiles(params)
		if mask := syscall.Umask(0o022); mode != tt.mode || mask != tt.mask || (err == nil) != (tt.fail == "") || err != nil && !strings.Contains(err.Error(), tt.fail) {
			t.Errorf("%s: mode %04o, umask %04o, %v", tt.params, mode, mask, err)
		}
	}
}
