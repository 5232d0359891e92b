//go:build !unix

package pgtest

import "os/exec"

func own(string) error { return nil }

func stop(int) error { return nil }

func proceed(int) error { return nil }

// AsUser does nothing on this system.
func AsUser(*exec.Cmd) {}

func setGroup(*exec.Cmd) {}
