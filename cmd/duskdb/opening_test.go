package main

import (
	"syscall"
	"testing"

	"github.com/duskdb/duskdb/server"
)

// TestSignalBehindOpening: a signal that comes when the data have just been opened stops the
// server, too.
func TestSignalBehindOpening(t *testing.T) {
	s, err := tryParse(t, "--dbpath", server.Memory, "--port", "0")
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.prepare()
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	signals, stop := stopSignals()
	defer stop()
	srv, err := openServer(r.cfg, signals)
	if err != nil {
		t.Fatal(err)
	}
	signals <- syscall.SIGTERM
	if err := s.serve(r, srv, serviceManager(r.log), signals); err != nil {
		t.Error(err)
	}
}
