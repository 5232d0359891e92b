package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/duskdb/duskdb/server"
)

// process are the flags about the process, as mongod has them.
type process struct {
	Fork     bool   `help:"Run in the background once the server is ready. Needs --logpath."`
	PIDFile  string `name:"pidfilepath" help:"File to write the process id to."`
	Shutdown bool   `env:"-" help:"Stop the server that uses --dbpath, and wait until it has stopped."`
}

// forkedVariable marks the environment of the background process.
const forkedVariable = "DUSKDB_FORKED"

// check refuses flags that exclude each other.
func (p *process) check(s *serveCmd) error {
	if p.Fork && s.LogPath == "" {
		return usageError{errors.New("--fork has to be used with --logpath")}
	}
	if p.Shutdown && s.DBPath == server.Memory {
		return usageError{errors.New("--shutdown finds a server by its data directory, and one with --dbpath :memory: has none; end its process, or send it db.adminCommand({shutdown: 1})")}
	}
	return nil
}

// writePIDFile writes the process id, and returns what removes the file again.
func (p *process) writePIDFile() (remove func(), err error) {
	if p.PIDFile == "" {
		return func() {}, nil
	}
	if err := os.WriteFile(p.PIDFile, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o644); err != nil { //nolint:gosec // init scripts read it
		return nil, usageError{fmt.Errorf("--pidfilepath: %w", err)}
	}
	return func() { _ = os.Remove(p.PIDFile) }, nil
}
