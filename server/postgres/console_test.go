package postgres

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/duskdb/duskdb/server"
)

// console sends a command to the web console of a server.
func (m machine) console(db, command string) string {
	m.Helper()
	res, err := http.Post(m.ConsoleURL()+"api/command", "application/json", strings.NewReader(`{"db": "`+db+`", "command": `+command+`}`))
	if err != nil {
		m.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 200 || !strings.Contains(string(body), `"ok":1`) {
		m.Fatalf("%s: %d %s %v", command, res.StatusCode, body, err)
	}
	return string(body)
}

// TestConsolesOfSeveralServers: a console shows what happens on all servers, and moves the
// clock of all.
func TestConsolesOfSeveralServers(t *testing.T) {
	list := machines(t, server.Config{TestClock: true, ConsolePort: -1, Parameters: map[string]string{"testClockStart": "2026-01-01T00:00:00Z"}}, 0, 0)
	one, two := list[0], list[1]
	one.console("admin", `{"testClock": 1, "freeze": true}`)
	one.console("test", `{"createIndexes": "c", "indexes": [{"key": {"at": 1}, "name": "at_1", "expireAfterSeconds": 3600}]}`)
	one.console("test", `{"insert": "c", "documents": [{"_id": "gone", "at": {"$date": "2026-01-01T00:00:00Z"}}, {"_id": "stays", "at": {"$date": "2026-01-02T00:00:00Z"}}]}`)

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", two.ConsoleURL()+"api/events?only=expirations&frame=10", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()

	if got := two.console("admin", `{"expirationStats": 1, "top": 5, "horizonSeconds": 7200, "buckets": 1}`); !strings.Contains(got, `"ns":"test.c"`) || !strings.Contains(got, `"due":1`) {
		t.Errorf("forecast of the other server: %s", got)
	}
	one.console("admin", `{"testClock": 1, "advanceSeconds": 3601}`)
	if got := two.console("admin", `{"testClock": 1}`); !strings.Contains(got, `"frozen":true`) || !strings.Contains(got, `T01:00:01`) {
		t.Errorf("the clock of the other server: %s", got)
	}
	two.console("admin", `{"runExpirationPass": 1}`) // on whichever server has removed it
	for lines := bufio.NewReader(res.Body); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("no event: %v", err)
		}
		if strings.HasPrefix(line, "data: ") {
			if !strings.Contains(line, `"gone"`) || !strings.Contains(line, `"counts":{"ttl":1}`) {
				t.Errorf("event %s", line)
			}
			break
		}
	}
	if got := one.console("test", `{"count": "c"}`); !strings.Contains(got, `"n":1`) {
		t.Errorf("left: %s", got)
	}
}
