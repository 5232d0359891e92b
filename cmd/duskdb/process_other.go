//go:build !unix

package main

import "errors"

func (p *process) daemonize() error { return errors.New("--fork is not supported on this system") }

func tellReady() {}

func stopServer(string) error { return errors.New("--shutdown is not supported on this system") }
