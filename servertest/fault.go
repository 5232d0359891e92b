package servertest

import (
	"time"

	"github.com/duskdb/duskdb/value"
)

// Fault says which commands are to fail, and how. What it can do is what
// MongoDB's fail point failCommand does.
type Fault struct {
	// Commands are the names of those that fail: "insert", "find", …
	Commands []string
	// Code is the error's code. A retryable write is tried again by drivers
	// after one such as 91 (ShutdownInProgress), not after 8000.
	Code int32
	// Labels are the error's labels; nil: those that the code brings.
	Labels []string
	// WriteConcern makes the error one of the write concern: the write takes
	// place.
	WriteConcern bool
	// CloseConnection cuts the connection instead of answering.
	CloseConnection bool
	// Block holds the command back for so long, in real time. Without a
	// Code it succeeds then.
	Block time.Duration
	// Times is how often; 0: until ClearError.
	Times int
	// Namespace, "db.coll", spares the others.
	Namespace string
	// AppName spares the clients that call themselves otherwise.
	AppName string
}

// SetError makes commands fail from now on, as those of a server in trouble
// do. It replaces what was set before.
func (s *Server) SetError(f Fault) {
	s.t.Helper()
	if len(f.Commands) == 0 {
		s.t.Fatal("servertest: the fault names no command")
	}
	mode := value.String("alwaysOn")
	if f.Times > 0 {
		mode = value.Document(value.NewDoc("times", value.Int(int64(f.Times))))
	}
	if _, err := s.Service().SetFailPoint(mode, f.data()); err != nil {
		s.t.Fatalf("servertest: %v", err)
	}
}

// ClearError lets commands succeed again, and returns how many have failed
// since the server was started.
func (s *Server) ClearError() int {
	s.t.Helper()
	n, err := s.Service().SetFailPoint(value.String("off"), nil)
	if err != nil {
		s.t.Fatalf("servertest: %v", err)
	}
	return int(n)
}

// data is the fault as failCommand takes it.
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
