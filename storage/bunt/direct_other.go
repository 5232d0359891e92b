//go:build !linux

package bunt

import "os"

func writeUnnoticed(f *os.File, b []byte) (int, error) { return f.Write(b) }
