package access

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/value"
	"github.com/duskdb/duskdb/wire"
)

// resident returns the resident memory of the server in MB.
func (p *process) resident() int {
	p.Helper()
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.Cmd.Process.Pid), "status"))
	if err != nil {
		p.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	kb, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		p.Fatal(err)
	}
	return kb >> 10
}

// TestLongTextBeforeLogin: a client that has not logged in cannot fill the memory or the disk
// with its own text, and administrators can still read the log.
func TestLongTextBeforeLogin(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the memory of a process is read from /proc")
	}
	log := filepath.Join(t.TempDir(), "log")
	p := start(t, t.TempDir(), "--logpath", log, "--slowms", "0")
	u := strings.TrimSuffix(strings.TrimPrefix(p.URI, "mongodb://"), "/")
	u, _, _ = strings.Cut(u, "/")
	nc, err := net.Dial("tcp", u)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	c, long := wire.NewClient(nc), value.String(strings.Repeat("x", 15e6))
	for range 20 {
		for _, body := range []value.Doc{
			value.NewDoc("authenticate", value.Int32(1), "mechanism", long, "user", value.String("x")),
			value.NewDoc("saslStart", value.Int32(1), "mechanism", long, "payload", value.Binary(0, nil)),
			value.NewDoc(long.Str(), value.Int32(1)),
		} {
			b := value.NewBuilder()
			for name, v := range body.All() {
				b.Append(name, v)
			}
			m, err := c.RoundTrip(b.String("$db", "admin").Doc())
			if err != nil || m.Body.Lookup("ok").AsDouble() != 0 || len(m.Body) > 70_000 {
				t.Fatalf("%.30s: %v", body, err)
			}
		}
	}
	if mb := p.resident(); mb > 500 { // 36 MB at the start
		t.Errorf("the server has %d MB", mb)
	}
	if info, err := os.Stat(log); err != nil || info.Size() > 5<<20 {
		t.Errorf("the log has %d bytes: %v", info.Size(), err)
	}
	reply := p.root().must("admin", `{"getLog": "global"}`)
	if reply["log"] == nil {
		t.Errorf("getLog answered %v", reply)
	}
	text, err := os.ReadFile(log)
	if err != nil || !strings.Contains(string(text), `"truncated":{"`) {
		t.Errorf("nothing in the log is marked as truncated: %v", err)
	}
	p.stop()
}
