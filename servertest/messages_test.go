package servertest_test

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/internal/engines"
	"github.com/duskdb/duskdb/server"
	"github.com/duskdb/duskdb/servertest"
)

// failing notes how a test fails, and ends it as [testing.T] does.
type failing struct {
	testing.TB
	message string
}

func (f *failing) Fatal(args ...any) { f.Fatalf("%s", fmt.Sprint(args...)) }

func (f *failing) Fatalf(format string, args ...any) {
	f.message = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// Deadline is that of the test, which panics in a bubble.
func (f *failing) Deadline() (time.Time, bool) { return f.TB.(*testing.T).Deadline() }

// failure runs a test and returns the message with which it fails.
func failure(t testing.TB, test func(t testing.TB)) string {
	t.Helper()
	f := &failing{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		test(f)
	}()
	<-done
	return f.message
}

// use is what a test does with a server.
type use = func(t testing.TB, srv *servertest.Server)

func expectFailure(t testing.TB, want string, test func(t testing.TB)) {
	t.Helper()
	if got := failure(t, test); got != "servertest: "+want {
		t.Errorf("failed with\n%q, want\n%q", got, "servertest: "+want)
	}
}

func TestWrongOptions(t *testing.T) {
	custom := func(f func(c *server.Config)) servertest.Option { return f }
	for _, c := range []struct {
		want string
		opts []servertest.Option
	}{
		{"Bubble needs a bubble: put the test into synctest.Test(t, func(t *testing.T) { … }) of testing/synctest, or leave Bubble out and move the server's clock alone",
			[]servertest.Option{servertest.Bubble()}},
		{"At and Bubble exclude each other: the clock of a bubble starts at 2000-01-01, and time.Sleep or Advance moves it",
			[]servertest.Option{servertest.At(servertest.Start), servertest.Bubble()}},
		{"At and Bubble exclude each other: the clock of a bubble starts at 2000-01-01, and time.Sleep or Advance moves it",
			[]servertest.Option{servertest.Bubble(), servertest.At(servertest.Start)}},
		{"At needs an instant: the zero time.Time is in the year 1", []servertest.Option{servertest.At(time.Time{})}},
		{"Dir needs the path of a directory, such as t.TempDir()", []servertest.Option{servertest.Dir("")}},
		{"the clock must be a *clock.Manual, so that the test can move it",
			[]servertest.Option{custom(func(c *server.Config) { c.Clock = clock.System() })}},
	} {
		expectFailure(t, c.want, func(t testing.TB) { servertest.Run(t, c.opts...) })
	}
	srv := servertest.Run(t, servertest.At(time.Unix(0, 0)), servertest.At(servertest.Start)) // the last one counts
	if now := srv.Clock.Now(); !now.Equal(servertest.Start) {
		t.Errorf("the clock shows %v", now)
	}
}

func TestWrongUse(t *testing.T) {
	for _, c := range []struct {
		want string
		use  use
	}{
		{"-1h0m0s is negative: the clock moves forward only", func(_ testing.TB, s *servertest.Server) { s.Advance(-time.Hour) }},
		{"61ns is less than a microsecond: give the unit, such as 61*time.Second", func(_ testing.TB, s *servertest.Server) { s.Advance(61) }},
		{"the clock cannot move backwards, from 2026-01-01T00:00:00Z to 2025-12-31T23:00:00Z",
			func(_ testing.TB, s *servertest.Server) { s.Set(servertest.Start.Add(-time.Hour)) }},
		{"the fault names no command", func(_ testing.TB, s *servertest.Server) { s.SetError(servertest.Fault{Code: 91}) }},
		{"the fault does not say how: set Code, CloseConnection or Block",
			func(_ testing.TB, s *servertest.Server) {
				s.SetError(servertest.Fault{Commands: []string{"insert"}})
			}},
		{"the fault with a WriteConcern needs a Code", func(_ testing.TB, s *servertest.Server) {
			s.SetError(servertest.Fault{Commands: []string{"insert"}, WriteConcern: true, Block: 1})
		}},
		{"the fault has Times: -1, which is negative", func(_ testing.TB, s *servertest.Server) {
			s.SetError(servertest.Fault{Commands: []string{"insert"}, Code: 91, Times: -1})
		}},
		{"the fault has Block: -1s, which is negative", func(_ testing.TB, s *servertest.Server) {
			s.SetError(servertest.Fault{Commands: []string{"insert"}, Code: 91, Block: -time.Second})
		}},
		{`the fault names the command "insrt", which the server does not have`, func(_ testing.TB, s *servertest.Server) {
			s.SetError(servertest.Fault{Commands: []string{"insert", "insrt"}, Code: 91})
		}},
		{"a server with NoPort has no URI: connect with srv.Client(t), or mongo.Connect(srv.ClientOptions())",
			func(_ testing.TB, s *servertest.Server) { _ = s.URI() }},
	} {
		expectFailure(t, c.want, func(t testing.TB) {
			c.use(t, servertest.Run(t, servertest.At(servertest.Start), servertest.NoPort()))
		})
	}
}

// uses are the methods that need a running server.
var uses = map[string]use{
	"Advance":       func(_ testing.TB, s *servertest.Server) { s.Advance(time.Hour) },
	"Set":           func(_ testing.TB, s *servertest.Server) { s.Set(servertest.Start) },
	"URI":           func(_ testing.TB, s *servertest.Server) { _ = s.URI() },
	"Client":        func(t testing.TB, s *servertest.Server) { s.Client(t) },
	"ClientOptions": func(_ testing.TB, s *servertest.Server) { s.ClientOptions() },
	"SetError": func(_ testing.TB, s *servertest.Server) {
		s.SetError(servertest.Fault{Commands: []string{"insert"}, Code: 91})
	},
	"ClearError": func(_ testing.TB, s *servertest.Server) { s.ClearError() },
	"Dump":       func(_ testing.TB, s *servertest.Server) { s.Dump("") },
}

func TestAfterStop(t *testing.T) {
	for name, used := range uses {
		for ended, end := range map[string]use{
			"Stop":  func(_ testing.TB, s *servertest.Server) { s.Stop(); s.Stop() },
			"Close": func(t testing.TB, s *servertest.Server) { _ = s.Close(t.Context()) },
		} {
			t.Run(name+" after "+ended, func(t *testing.T) {
				expectFailure(t, "the server has been stopped", func(t testing.TB) {
					srv := servertest.Run(t)
					end(t, srv)
					used(t, srv)
				})
			})
		}
	}
}

// A client that is used after its server was stopped learns why nothing answers.
func TestClientAfterStop(t *testing.T) {
	srv := servertest.Run(t, servertest.NoPort())
	o := srv.ClientOptions()
	srv.Stop()
	if _, err := o.Dialer.DialContext(t.Context(), "tcp", "in-process"); err == nil || err.Error() != "servertest: the server has been stopped" {
		t.Error(err)
	}
}

func TestInABubble(t *testing.T) {
	if engines.Remote(engines.ForTests()) {
		t.Skip("a bubble's time stands still while a goroutine waits for a network")
	}
	for _, c := range []struct {
		want string
		opts []servertest.Option
		use  use
	}{
		{"a server in a bubble has no port, and so no URI: connect with srv.Client(t), or mongo.Connect(srv.ClientOptions())",
			[]servertest.Option{servertest.Bubble()}, func(_ testing.TB, s *servertest.Server) { _ = s.URI() }},
		{"-1ns is negative: the clock moves forward only",
			[]servertest.Option{servertest.Bubble()}, func(_ testing.TB, s *servertest.Server) { s.Advance(-1) }},
		{"the clock cannot move backwards, from 2000-01-01T00:00:00Z to 1999-01-01T00:00:00Z",
			[]servertest.Option{servertest.Bubble()},
			func(_ testing.TB, s *servertest.Server) { s.Set(time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC)) }},
		{"the server has been stopped", []servertest.Option{servertest.Bubble()}, func(_ testing.TB, s *servertest.Server) { s.Stop(); s.Advance(1) }},
		{"a server that listens on a port stops the time of this bubble: add servertest.Bubble(), or NoPort() to keep the two clocks apart",
			nil, nil},
		{"At and Bubble exclude each other: the clock of a bubble starts at 2000-01-01, and time.Sleep or Advance moves it",
			[]servertest.Option{servertest.Bubble(), servertest.At(servertest.Start)}, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			expectFailure(t, c.want, func(t testing.TB) { c.use(t, servertest.Run(t, c.opts...)) })
		})
	}
}

// The servers of a bubble must end with it, not with a test around it.
func TestOuterTest(t *testing.T) {
	const want = "Run got the t of a test that outlives the bubble: give it the one that synctest.Test passes to its function"
	for _, o := range []servertest.Option{servertest.Bubble(), servertest.NoPort()} {
		synctest.Test(t, func(*testing.T) {
			expectFailure(t, want, func(t testing.TB) { servertest.Run(t, o) })
		})
	}
}

// Set in a bubble moves every clock, as Advance does.
func TestSet(t *testing.T) {
	srv := servertest.Run(t, servertest.At(servertest.Start), servertest.NoPort())
	srv.Set(servertest.Start.Add(time.Hour))
	if now := srv.Clock.Now(); !now.Equal(servertest.Start.Add(time.Hour)) {
		t.Errorf("the clock shows %v", now)
	}
	if engines.Remote(engines.ForTests()) {
		return
	}
	synctest.Test(t, func(t *testing.T) {
		srv := servertest.Run(t, servertest.Bubble())
		later := time.Now().Add(time.Hour)
		srv.Set(later)
		if now := time.Now(); !now.Equal(later) || !srv.Clock.Now().Equal(now) {
			t.Errorf("the server's clock shows %v, ours %v", srv.Clock.Now(), now)
		}
	})
}

// The table of uses has each method but those that end the server.
func TestUsesAreComplete(t *testing.T) {
	api, err := os.ReadFile("../tests/house/testdata/api/servertest.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^func \(s \*Server\) (\w+)`).FindAllStringSubmatch(string(api), -1) {
		if name := m[1]; name != "Stop" && name != "Close" && uses[name] == nil {
			t.Errorf("%s after Stop is not tried", name)
		}
	}
}
