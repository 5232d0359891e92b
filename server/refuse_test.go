package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/internal/freeport"
	"github.com/duskdb/duskdb/value"
	"github.com/duskdb/duskdb/wire"
)

// held is a server whose opening stops when half of its log has been read.
type held struct {
	log     lines
	clock   *clock.Manual
	port    int
	metrics string        // base of the URLs
	reached chan struct{} // closed when the opening has stopped
	release func()        // lets it go on
	opened  chan *Server
}

// filledDir returns a data directory with n documents of 1 MB.
func filledDir(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	s, err := New(Config{DBPath: dir, OplogSizeMB: -1})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	c := dial(t, s)
	for i := range n {
		c.ok(t, value.NewDoc("insert", value.String("c"), "$db", value.String("test"), "documents", value.NewArray(value.Document(
			value.NewDoc("_id", value.Int32(int32(i)), "s", value.String(strings.Repeat("x", 1<<20)))))))
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// openHeld opens 24 MB in the background. The log is read in parts of 4 MB or
// a little more, and the opening stops before the fourth.
func openHeld(t *testing.T) *held {
	t.Helper()
	h := &held{
		log: make(lines, 100), clock: clock.NewManual(time.Unix(1_700_000_000, 0)), port: freeport.For(t),
		reached: make(chan struct{}), opened: make(chan *Server, 1),
	}
	hold, parts := make(chan struct{}), 0
	h.release = func() { close(hold) }
	cfg := Config{
		DBPath: filledDir(t, 24), Port: h.port, MetricsPort: -1, Clock: h.clock, Log: zerolog.New(h.log),
		fault: func(step, _ string) error {
			if step != "read" {
				return nil
			}
			if parts++; parts == 4 {
				close(h.reached)
				<-hold
			}
			return nil
		},
	}
	go func() {
		s, err := New(cfg)
		if err != nil {
			t.Error(err)
		}
		h.opened <- s
	}()
	h.metrics = "http://" + h.log.next("Serving metrics")["address"].(string)
	<-h.reached
	return h
}

// start lets the server open the rest, and starts it.
func (h *held) start(t *testing.T) *Server {
	t.Helper()
	h.release()
	s := <-h.opened
	if s == nil {
		t.FailNow()
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestOpeningIsVisible: /readyz and the log say how far the opening has got,
// the log at most every five seconds.
func TestOpeningIsVisible(t *testing.T) {
	h := openHeld(t)
	first := h.log.next("Opening the data") // at once, because the log is large
	if first["percent"] != 0.0 || first["readMB"] != 0.0 || first["sizeMB"] != 24.0 || first["secondsLeft"] != nil {
		t.Errorf("the first line is %v", first)
	}
	if code, text := fetch(t, h.metrics+"/healthz"); code != 200 {
		t.Errorf("/healthz answers %d, %s", code, text)
	}
	code, text := fetch(t, h.metrics+"/readyz")
	var percent int
	if _, err := fmt.Sscanf(text, "opening %d %%", &percent); err != nil || code != 503 || percent < 10 || percent > 25 {
		t.Errorf("/readyz answers %d, %s", code, text) // reading counts for 30 %
	}
	h.clock.WaitForTimers(1)
	if err := h.clock.Advance(5*time.Second - 1); err != nil {
		t.Fatal(err)
	}
	if len(h.log) > 0 {
		t.Errorf("logged too early: %v", <-h.log)
	}
	if err := h.clock.Advance(5*time.Second + 1); err != nil {
		t.Fatal(err)
	}
	line := h.log.next("Opening the data")
	read, size := line["readMB"].(float64), line["sizeMB"].(float64)
	if line["percent"] != float64(percent) || size != 24 || read < 12 || read > 18 || line["stage"] != "reading the log" {
		t.Errorf("the line is %v", line)
	}
	done := read / size * readingShare / 100 // took 10 s
	if left, want := line["secondsLeft"].(float64), 10*(1-done)/done; left < want-5 || left > want+5 {
		t.Errorf("%v s left, want about %v", left, want)
	}
	s := h.start(t)
	if code, text := fetch(t, h.metrics+"/readyz"); code != 200 || s.MetricsAddr() == "" {
		t.Errorf("/readyz answers %d, %s", code, text)
	}
}

// TestRefusedWhileOpening: a client that says hello while the data are opened
// gets NotYetInitialized, in a message or in the older form, and is
// disconnected.
func TestRefusedWhileOpening(t *testing.T) {
	h := openHeld(t)
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(h.port))
	for _, text := range []string{`{"hello": 1, "$db": "admin"}`, `{"ping": 1, "$db": "admin"}`} {
		nc, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		m, err := wire.NewClient(nc).RoundTrip(value.MustJSON(text))
		if err != nil {
			t.Fatal(err)
		}
		wantNotYet(t, m.Body)
		if !closed(nc) {
			t.Errorf("%s: the connection stays open", text)
		}
		_ = nc.Close()
	}
	nc, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	query := append(wire.BeginQuery(nil, 1, 0, "admin.$cmd"), value.MustJSON(`{"isMaster": 1, "helloOk": true}`)...)
	if _, err := nc.Write(wire.FinishQuery(query, 0)); err != nil {
		t.Fatal(err)
	}
	m, err := wire.NewReader(nc).ReadMessage()
	if err != nil {
		t.Fatal(err)
	}
	wantNotYet(t, value.Doc(m.(*wire.Reply).Docs.Bytes()))
	s := h.start(t)
	dial(t, s).ok(t, pingCommand)
}

func wantNotYet(t *testing.T, reply value.Doc) {
	t.Helper()
	if reply.Lookup("ok").Truthy() || reply.Lookup("code").Int32() != 94 || reply.Lookup("codeName").Str() != "NotYetInitialized" ||
		!strings.HasPrefix(reply.Lookup("errmsg").Str(), "DuskDB is opening its data: ") {
		t.Errorf("the reply is %s", reply)
	}
}

// TestDriverWaitsForTheOpening: an operation that a driver begins while the
// data are opened succeeds afterwards; one whose time ends before fails with
// an error that says what the server is doing.
func TestDriverWaitsForTheOpening(t *testing.T) {
	h := openHeld(t)
	client := func(wait time.Duration) *mongo.Client {
		c, err := mongo.Connect(options.Client().ApplyURI(fmt.Sprintf("mongodb://127.0.0.1:%d", h.port)).SetServerSelectionTimeout(wait))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	hurried, patient := client(200*time.Millisecond), client(time.Minute)
	defer func() {
		_ = errors.Join(hurried.Disconnect(context.Background()), patient.Disconnect(context.Background()))
	}()
	if err := hurried.Ping(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "DuskDB is opening its data") {
		t.Errorf("a driver in a hurry gets %v", err)
	}
	count := make(chan error, 1)
	go func() {
		n, err := patient.Database("test").Collection("c").CountDocuments(context.Background(), map[string]any{})
		if err == nil && n != 24 {
			err = fmt.Errorf("%d documents", n)
		}
		count <- err
	}()
	h.start(t)
	if err := <-count; err != nil {
		t.Error(err)
	}
}

// TestPortTaken: a port that is taken is reported before the data are opened, and the directory is
// as it was.
func TestPortTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	there := t.TempDir()
	missing := filepath.Join(there, "missing")
	for _, dir := range []string{missing, there} {
		_, err = New(Config{DBPath: dir, Port: l.Addr().(*net.TCPAddr).Port, MetricsPort: -1})
		if err == nil || !strings.Contains(err.Error(), "cannot listen on") {
			t.Errorf("got %v", err)
		}
	}
	if left, err := os.ReadDir(there); err != nil || len(left) > 0 {
		t.Errorf("the directory has %v, %v", left, err)
	}
}

// TestReadFails: a disk that fails while the log is read makes the opening
// fail, and the port free again.
func TestReadFails(t *testing.T) {
	dir, port := filledDir(t, 1), freeport.For(t)
	eio := errors.New("input/output error")
	_, err := New(Config{DBPath: dir, Port: port, MetricsPort: -1, fault: func(step, _ string) error {
		if step == "read" {
			return eio
		}
		return nil
	}})
	if !errors.Is(err, eio) {
		t.Errorf("got %v", err)
	}
	s := serveConfig(t, Config{DBPath: dir, Port: port})
	dial(t, s).ok(t, pingCommand)
}
