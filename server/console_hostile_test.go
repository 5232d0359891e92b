package server_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"sync"
	"testing"

	"github.com/duskdb/duskdb/server"
)

func consoleWithLogins(t *testing.T) *server.Server {
	t.Helper()
	return runServer(t, server.Config{ConsolePort: -1, Auth: true, RootUser: "root", RootPassword: "secret"})
}

// No body can end the server or make it repeat what it was sent, with a login or without.
func TestConsoleBoundsWhatItReads(t *testing.T) {
	t.Parallel()
	srv := consoleWithLogins(t)
	open, locked, root := newBrowser(t, runServer(t, server.Config{ConsolePort: -1})), newBrowser(t, srv), newBrowser(t, srv)
	if root.login("root", "secret") != 200 {
		t.Fatal("login")
	}
	deep := strings.Repeat("[", 1_500_000)
	for name, body := range map[string]string{
		"open arrays":    `{"a":` + deep,
		"in a field":     `{"user":` + deep,
		"in a command":   `{"db":"x","command":{"find":` + deep,
		"closed arrays":  `{"a":` + deep + strings.ReplaceAll(deep, "[", "]") + `}`,
		"only arrays":    deep,
		"open documents": strings.Repeat(`{"a":`, 500_000),
		"201 levels":     `{"a":` + strings.Repeat("[", 201) + strings.Repeat("]", 201) + `}`,
		"digits":         `{"a":` + strings.Repeat("9", 1<<20) + `}`,
		"a name":         `{"` + strings.Repeat("n", 1<<20) + `":{"$oid":1}}`,
		"a command":      `{"db":"x","command":{"` + strings.Repeat("n", 1<<20) + `":1}}`,
		"text behind it": `{"db":"admin","command":{"ping":1}} xx`,
		"a second one":   `{"db":"admin","command":{"ping":1}}{}`,
	} {
		for _, b := range []*browser{open, locked, root} {
			for _, path := range []string{"/api/login", "/api/command"} {
				code, _, text := b.do("POST", path, body)
				if code < 400 || code >= 500 || len(text) > 2048 {
					t.Errorf("%s to %s: %d with %d bytes", name, path, code, len(text))
				}
				if b != locked && path == "/api/command" && name != "a command" && code != 400 {
					t.Errorf("%s: %d", name, code)
				}
			}
		}
	}
	if code, _, _ := locked.do("POST", "/api/login", `{"user":"root","password":"`+strings.Repeat("x", 5000)+`"}`); code != 413 {
		t.Errorf("a login of 5 KB: %d", code)
	}
	if code, _, text := open.do("GET", "/api/events?db="+strings.Repeat("x", 20_000), ""); code != 400 || len(text) > 2048 {
		t.Errorf("events of a long name: %d with %d bytes", code, len(text))
	}
	for _, b := range []*browser{open, root} {
		b.command(200, `"ok":1`, "admin", `{"ping": 1}`)
	}
}

// The session needs the cookie and the token, and the token is in the reply to the login
// alone. So the cookie, which every port of the host gets, is useless without it.
func TestConsoleCookieAloneIsNothing(t *testing.T) {
	t.Parallel()
	srv := consoleWithLogins(t)
	b := newBrowser(t, srv)
	code, h, body := b.do("POST", "/api/login", `{"user": "root", "password": "secret"}`)
	_, port, _ := net.SplitHostPort(strings.TrimSuffix(strings.TrimPrefix(srv.ConsoleURL(), "http://"), "/"))
	if cookie := h.Get("Set-Cookie"); code != 200 || !strings.HasPrefix(cookie, "duskdb_console_"+port+"=") || !strings.Contains(body, `"csrf":"`) {
		t.Fatalf("login: %d %q %s", code, cookie, body)
	}
	if code, _, body := b.do("GET", "/api/session", ""); code != 200 || strings.Contains(body, "csrf") || strings.Contains(body, "root") || strings.Contains(body, "version") {
		t.Errorf("session: %d %s", code, body)
	}
	for _, path := range []string{"POST /api/command", "POST /api/logout", "GET /api/events"} {
		method, path, _ := strings.Cut(path, " ")
		if code, _, body := b.do(method, path, `{"db": "admin", "command": {"ping": 1}}`); code != 403 || !strings.Contains(body, "X-CSRF-Token") {
			t.Errorf("%s %s: %d %s", method, path, code, body)
		}
	}
	stranger := newBrowser(t, srv) // with the token alone
	if b.login("root", "secret") != 200 {
		t.Fatal("login")
	}
	stranger.csrf = b.csrf
	stranger.command(401, "log in", "admin", `{"ping": 1}`)
	if _, _, body := b.do("GET", "/api/session", ""); !strings.Contains(body, `"user":"root"`) || strings.Contains(body, b.csrf) {
		t.Errorf("session of the page: %s", body)
	}
}

// Two consoles on one host name share the cookies of a browser, and do not log each other's
// users out. Tabs log in for themselves; a logout is that of the browser.
func TestConsolesShareABrowser(t *testing.T) {
	t.Parallel()
	one := consoleWithLogins(t)
	tab, second, neighbour := newBrowser(t, one), newBrowser(t, one), newBrowser(t, consoleWithLogins(t))
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []*browser{tab, neighbour, second} {
		b.http.Jar = jar
		if b.login("root", "secret") != 200 {
			t.Fatal("login")
		}
	}
	for _, b := range []*browser{tab, neighbour, second} {
		b.command(200, `"ok":1`, "admin", `{"ping": 1}`)
	}
	if code, _, _ := tab.do("POST", "/api/logout", "{}"); code != 200 {
		t.Errorf("logout: %d", code)
	}
	second.command(401, "log in", "admin", `{"ping": 1}`)
	neighbour.command(200, `"ok":1`, "admin", `{"ping": 1}`)
}

// A user who logs in without end loses their own sessions, and nobody else does.
func TestConsoleSessionsOfOneUser(t *testing.T) {
	t.Parallel()
	srv := consoleWithLogins(t)
	root := newBrowser(t, srv)
	if root.login("root", "secret") != 200 {
		t.Fatal("login")
	}
	mustRun(t, connect(t, srv, rootCredential()), "admin", createReader())
	first := newBrowser(t, srv)
	for i := range 12 {
		b := first
		if i > 0 {
			b = newBrowser(t, srv)
		}
		if code := b.login("ann", "pw"); code != 200 {
			t.Fatalf("login %d: %d", i, code)
		}
	}
	first.command(401, "log in", "admin", `{"ping": 1}`)
	root.command(200, `"ok":1`, "admin", `{"ping": 1}`)
}

// Clients with wrong passwords take no places from those who may log in or have logged in. They
// guess for other users: guesses for one user from one address wait for one another.
func TestConsoleLoginsDoNotShutOut(t *testing.T) {
	t.Parallel()
	srv := consoleWithLogins(t)
	root := newBrowser(t, srv)
	if root.login("root", "secret") != 200 {
		t.Fatal("login")
	}
	var wg sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	guess := &http.Client{Transport: &http.Transport{}}
	defer guess.CloseIdleConnections()
	for i := range 48 {
		wg.Go(func() {
			for k := 0; ctx.Err() == nil; k++ {
				r, _ := http.NewRequestWithContext(ctx, "POST", srv.ConsoleURL()+"api/login", strings.NewReader(fmt.Sprintf(`{"user": "guessed%d", "password": "wrong%d"}`, i, k)))
				r.Header.Set("Content-Type", "application/json")
				if res, err := guess.Do(r); err == nil {
					_ = res.Body.Close()
				}
			}
		})
	}
	until(t, "48 guesses wait for their delay", func() bool { return srv.Service().Snapshot().Connections.Current >= 40 })
	for range 10 {
		if code := newBrowser(t, srv).login("root", "secret"); code != 200 {
			t.Errorf("the right password: %d", code)
		}
		root.command(200, `"ok":1`, "admin", `{"ping": 1}`)
	}
	stop()
	wg.Wait()
}

// A page of another site is refused by all that a browser tells of it; a stream without TLS
// under a name for which browsers tell nothing needs a header.
func TestConsoleKnowsItsOwnPage(t *testing.T) {
	t.Parallel()
	srv := runServer(t, server.Config{ConsolePort: -1, ConsoleHosts: []string{"db.example"}})
	b := newBrowser(t, srv)
	const ping = `{"ping": 1}`
	origin := strings.TrimSuffix(srv.ConsoleURL(), "/")
	address := strings.TrimPrefix(origin, "http://")
	for _, o := range []string{"https://" + address, "file://" + address, "ws://" + address, address, origin + "/", "http://x@" + address} {
		b.command(403, "another site", "admin", ping, "Origin: "+o)
	}
	b.command(200, `"ok":1`, "admin", ping, "Origin: "+origin)
	b.command(200, `"ok":1`, "admin", ping, "Origin: https://"+address, "X-Forwarded-Proto: https")
	b.command(403, "another site", "admin", ping, "Origin: "+origin, "X-Forwarded-Proto: https")
	stream := func(headers ...string) int {
		r, err := http.NewRequestWithContext(t.Context(), "GET", srv.ConsoleURL()+"api/events?db=test", nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range headers {
			name, v, _ := strings.Cut(h, ": ")
			if r.Header.Set(name, v); name == "Host" {
				r.Host = v
			}
		}
		res, err := b.http.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		return res.StatusCode
	}
	for want, all := range map[int][][]string{
		403: {{"Host: db.example"}, {"Host: db.example:80", "Accept: text/event-stream"}, {"Host: db.example", "Sec-Fetch-Site: cross-site", "X-CSRF-Token: x"}, {"Sec-Fetch-Site: same-site"}},
		200: {{"Host: db.example", "X-CSRF-Token: none"}, {"Host: db.example", "Sec-Fetch-Site: same-origin"}, {"Host: db.example", "X-Forwarded-Proto: https"}, {}, {"Host: localhost"}, {"Host: [::1]:1"}},
	} {
		for _, headers := range all {
			if got := stream(headers...); got != want {
				t.Errorf("a stream with %v: %d, want %d", headers, got, want)
			}
		}
	}
}

// A large reply is whole.
func TestConsoleLargeReplies(t *testing.T) {
	t.Parallel()
	srv := runServer(t, server.Config{ConsolePort: -1})
	b := newBrowser(t, srv)
	fillLarge(t, b)
	for _, query := range []string{"", "?json=canonical"} {
		code, _, text := b.do("POST", "/api/command"+query, `{"db": "test", "command": {"find": "c"}}`)
		if code != 200 || len(text) < 6<<20 || !strings.HasSuffix(text, "}\n") || strings.Count(text, "1000000000") != 1 {
			t.Errorf("%s: %d with %d bytes", query, code, len(text))
		}
	}
}

// fillLarge stores a document of several megabytes, which nobody had to send.
func fillLarge(t *testing.T, b *browser) {
	t.Helper()
	b.command(200, `"ok":1`, "test", `{"aggregate": 1, "pipeline": [{"$documents": [{"_id": 1, "a": {"$concatArrays": [{"$range": [0, 1000000]}, [1000000000]]}}]}, {"$out": "c"}], "cursor": {}}`)
}

// Requests of some size are served at the same time.
func TestConsoleLargeRequests(t *testing.T) {
	t.Parallel()
	b := newBrowser(t, runServer(t, server.Config{ConsolePort: -1}))
	var documents bytes.Buffer
	documents.WriteString(`[{"a": [0`)
	for documents.Len() < 200<<10 {
		documents.WriteString(",1")
	}
	documents.WriteString("]}]")
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			b.command(200, `"n":1`, "test", `{"insert": "c", "documents": `+documents.String()+`}`)
		})
	}
	wg.Wait()
	b.command(200, `"n":6`, "test", `{"count": "c"}`)
}

// A filter, sort or projection that somebody writes costs no more than the limits of a command:
// depth, size and time are bounded before the work, and the server goes on.
func TestConsoleBoundsFilters(t *testing.T) {
	t.Parallel()
	b := newBrowser(t, runServer(t, server.Config{ConsolePort: -1}))
	b.command(200, `"ok":1`, "test", `{"aggregate": 1, "pipeline": [{"$documents": {"$map": {"input": {"$range": [0, 5000]}, "in": {"_id": "$$this", "a": {"$range": [0, 20]}}}}}, {"$out": "c"}], "cursor": {}}`)
	many := func(part string, n int) string { return strings.TrimSuffix(strings.Repeat(part+",", n), ",") }
	product := `{"$size": {"$filter": {"input": {"$range": [0, 1000000]}, "cond": {"$lt": ["$$this", 0]}}}}`
	for name, query := range map[string]string{
		"ends by its time":     `"filter": {"$expr": {"$gt": [` + product + `, 1]}}, "maxTimeMS": 200`,
		"sorts by its time":    `"filter": {"$expr": {"$gte": [` + product + `, 0]}}, "sort": {"a": 1}, "maxTimeMS": 200`,
		"projects by its time": `"projection": {"x": ` + product + `}, "limit": 5000, "maxTimeMS": 200`,
	} {
		b.command(200, `"code":50`, "test", `{"find": "c", `+query+`}`)
		if strings.Contains(query, `"filter"`) && !strings.Contains(query, "sort") {
			b.command(200, `"code":50`, "test", `{"count": "c", "query": `+strings.TrimSuffix(strings.TrimPrefix(query, `"filter": `), `, "maxTimeMS": 200`)+`, "maxTimeMS": 200}`)
		}
		t.Log(name)
	}
	for name, query := range map[string]string{
		"many branches":      `"filter": {"$or": [` + many(`{"a": 1}`, 100_000) + `]}`,
		"many values":        `"filter": {"a": {"$in": [` + many(`7`, 1_000_000) + `]}}`,
		"nested negations":   `"filter": ` + strings.Repeat(`{"$nor": [`, 90) + `{"a": 1}` + strings.Repeat(`]}`, 90),
		"nested expressions": `"filter": {"$expr": ` + strings.Repeat(`{"$not": [`, 90) + `true` + strings.Repeat(`]}`, 90) + `}`,
		"a long pattern":     `"filter": {"s": {"$regex": "` + strings.Repeat("(a*)*", 5000) + `"}}`,
		"a far page":         `"skip": 9007199254740991, "limit": 51`,
		"a negative page":    `"skip": -1, "limit": 51`,
		"a long name":        `"sort": {"` + strings.Repeat("n", 100_000) + `": 1}`,
		"many sorts": `"sort": {` + func() (s string) {
			for i := range 2000 {
				s += fmt.Sprintf(`"f%d": 1,`, i)
			}
			return strings.TrimSuffix(s, ",")
		}() + `}`,
	} {
		code, _, text := b.do("POST", "/api/command", `{"db": "test", "command": {"find": "c", `+query+`, "batchSize": 51, "singleBatch": true, "maxTimeMS": 5000}}`)
		if code != 200 || len(text) > 1<<20 {
			t.Errorf("%s: %d with %d bytes: %.200s", name, code, len(text), text)
		}
		b.command(200, `"ok":1`, "admin", `{"ping": 1}`)
	}
	for _, query := range []string{`"top": 1001, "without": true`, `"top": 0, "without": true`, `"without": true`, `"top": 1, "without": 7`, `"top": 1, "skip": -1, "without": true`} {
		b.command(200, `"ok":0`, "admin", `{"expirationStats": 1, `+query+`}`)
	}
	b.command(200, `"ok":1`, "admin", `{"expirationStats": 1, "top": 1000, "skip": 9223372036854775807, "without": true, "search": "`+strings.Repeat("x", 1<<20)+`"}`)
}

// What the pages use to change documents and to list collections has the rights of the user,
// and the protections of every call.
func TestConsoleDocumentsNeedRights(t *testing.T) {
	t.Parallel()
	srv := consoleWithLogins(t)
	root, reader := newBrowser(t, srv), newBrowser(t, srv)
	if root.login("root", "secret") != 200 {
		t.Fatal("login")
	}
	mustRun(t, connect(t, srv, rootCredential()), "admin", createReader())
	for _, db := range []string{"shop", "secret"} {
		root.command(200, `"n":1`, db, `{"insert": "plain", "documents": [{"_id": 1}]}`)
	}
	if reader.login("ann", "pw") != 200 {
		t.Fatal("login of a reader")
	}
	changes := []string{
		`{"update": "plain", "updates": [{"q": {"_id": 1, "$expr": {"$eq": ["$$ROOT", {"$literal": {"_id": 1}}]}}, "u": {"_id": 1, "forged": true}}]}`,
		`{"delete": "plain", "deletes": [{"q": {"_id": 1}, "limit": 1}]}`,
		`{"createIndexes": "plain", "indexes": [{"key": {"at": 1}, "name": "at_1", "expireAfterSeconds": 0}]}`,
		`{"collMod": "plain", "documentTtl": {"default": 1}}`,
		`{"create": "jobs", "messageQueue": {}}`,
	}
	for _, command := range changes {
		reader.command(200, `"code":13`, "shop", command)
		root.command(403, "another site", "shop", command, "Origin: http://evil.example")
		root.command(403, "another site", "shop", command, "Sec-Fetch-Site: cross-site")
		root.command(403, "X-CSRF-Token", "shop", command, "X-CSRF-Token: 00")
		root.command(415, "application/json", "shop", command, "Content-Type: text/plain")
	}
	root.command(200, `"firstBatch":[{"_id":1}]`, "shop", `{"find": "plain"}`)
	listing := `{"expirationStats": 1, "top": 10, "without": true}`
	root.command(200, "secret.plain", "admin", listing)
	body := reader.command(200, "shop.plain", "admin", listing)
	if strings.Contains(body, "secret") || !strings.Contains(body, `"without":1`) {
		t.Errorf("a reader of shop sees %s", body)
	}
	reader.command(200, `"code":13`, "secret", listing)
	reader.command(200, `"actions":["`, "admin", `{"connectionStatus": 1, "showPrivileges": true}`)
}

// A console that only reads changes no document, whoever asks.
func TestConsoleReadOnlyKeepsDocuments(t *testing.T) {
	t.Parallel()
	b := newBrowser(t, runServer(t, server.Config{ConsolePort: -1, ConsoleReadOnly: true}))
	for _, command := range []string{
		`{"update": "c", "updates": [{"q": {}, "u": {"a": 1}}]}`, `{"delete": "c", "deletes": [{"q": {}, "limit": 0}]}`,
		`{"createIndexes": "c", "indexes": [{"key": {"at": 1}, "name": "at_1", "expireAfterSeconds": 0}]}`,
		`{"collMod": "c", "documentTtl": "off"}`, `{"create": "c"}`, `{"create": "q", "messageQueue": {}}`, `{"drop": "c"}`,
	} {
		b.command(403, "read-only", "test", command)
	}
	b.command(200, `"ok":1`, "test", `{"find": "c", "filter": {"a": 1}, "projection": {"at": {"$meta": "expiresAt"}}}`)
	b.command(200, `"without":0`, "admin", `{"expirationStats": 1, "top": 1, "without": true}`)
}
