package servertest

import (
	"errors"
	"fmt"
	"time"

	"github.com/duskdb/duskdb/value"
)

// Fault defines which commands fail, and how. It has the features of MongoDB's
// fail point failCommand.
type Fault struct {
	// Commands are the names of the commands that fail: "insert", "find", …
	Commands []string
	// Code is the error's code. Drivers retry a retryable write after a code such
	// as 91 (ShutdownInProgress), but not after 8000.
	Code int32
	// Labels are the error's labels; nil: those of the code.
	Labels []string
	// WriteConcern returns the error as a write concern error: the write is
	// applied.
	WriteConcern bool
	// CloseConnection closes the connection instead of replying.
	CloseConnection bool
	// Block delays the command, in real time. Without a Code it then succeeds.
	Block time.Duration
	// Times is the number of failures; 0: until ClearError.
	Times int
	// Namespace, "db.coll", limits the fault to one collection.
	Namespace string
	// AppName limits the fault to clients with this application name.
	AppName string
}

// SetError makes commands fail from now on. It replaces an earlier fault.
func (s *Server) SetError(f Fault) {
	s.t.Helper()
	s.running()
	if err := f.check(func(name string) bool { return s.Service().Table[name] != nil }); err != nil {
		s.t.Fatalf("servertest: the fault %v", err)
	}
	mode := value.String("alwaysOn")
	if f.Times > 0 {
		mode = value.Document(value.NewDoc("times", value.Int(int64(f.Times))))
	}
	if _, err := s.Service().SetFailPoint(mode, f.data()); err != nil {
		s.t.Fatalf("servertest: %v", err)
	}
}

// ClearError ends the fault, and returns the number of commands that have
// failed since the server was started.
func (s *Server) ClearError() int {
	s.t.Helper()
	s.running()
	n, err := s.Service().SetFailPoint(value.String("off"), nil)
	if err != nil {
		s.t.Fatalf("servertest: %v", err)
	}
	return int(n)
}

// check refuses a fault that would make nothing fail.
func (f *Fault) check(known func(command string) bool) error {
	for _, name := range f.Commands {
		if !known(name) {
			return fmt.Errorf("names the command %q, which the server does not have", name)
		}
	}
	switch {
	case len(f.Commands) == 0:
		return errors.New("names no command")
	case f.Times < 0:
		return fmt.Errorf("has Times: %d, which is negative", f.Times)
	case f.Block < 0:
		return fmt.Errorf("has Block: %v, which is negative", f.Block)
	case f.WriteConcern && f.Code == 0:
		return errors.New("with a WriteConcern needs a Code")
	case f.Code == 0 && !f.CloseConnection && f.Block == 0:
		return errors.New("does not say how: set Code, CloseConnection or Block")
	}
	return nil
}

// data returns the fault in the form of failCommand.
func (f *Fault) data() value.Doc {
	b := value.NewBuilder()
	b.StartArray("failCommands")
	for _, name := range f.Commands {
		b.String("", name)
	}
	b.End()
	switch {
	case f.WriteConcern:
		b.StartDocument("writeConcernError").Int32("code", f.Code).String("errmsg", "made to fail by the test").End()
	case f.Code != 0:
		b.Int32("errorCode", f.Code)
	}
	if f.Labels != nil {
		b.StartArray("errorLabels")
		for _, l := range f.Labels {
			b.String("", l)
		}
		b.End()
	}
	b.Bool("closeConnection", f.CloseConnection)
	if f.Block > 0 {
		b.Bool("blockConnection", true).Int64("blockTimeMS", f.Block.Milliseconds())
	}
	if f.Namespace != "" {
		b.String("namespace", f.Namespace)
	}
	if f.AppName != "" {
		b.String("appName", f.AppName)
	}
	return b.Doc()
}
