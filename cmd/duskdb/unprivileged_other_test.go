//go:build !unix

package main

import "os/exec"

// unprivileged does nothing: this system has no root.
func unprivileged(*exec.Cmd) {}
