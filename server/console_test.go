package server_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509/pkix"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/duskdb/duskdb/server"
)

// browser is a client of the console with its cookies.
type browser struct {
	t    *testing.T
	url  string
	http *http.Client
	csrf string
}

func newBrowser(t *testing.T, srv *server.Server) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &browser{t: t, url: srv.ConsoleURL(), http: &http.Client{Jar: jar, Transport: transport}}
}

// do sends a request with more headers ("name: value") and returns status, headers, body.
func (b *browser) do(method, path, body string, headers ...string) (int, http.Header, string) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.url+strings.TrimPrefix(path, "/"), strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	if method == "POST" {
		r.Header.Set("Content-Type", "application/json")
	}
	if b.csrf != "" {
		r.Header.Set("X-CSRF-Token", b.csrf)
	}
	for _, h := range headers {
		name, v, _ := strings.Cut(h, ": ")
		if name == "Host" {
			r.Host = v
		} else {
			r.Header.Set(name, v)
		}
	}
	res, err := b.http.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(text)
}

// command runs a command and expects a status and a fragment of the answer.
func (b *browser) command(status int, fragment, db, command string, headers ...string) string {
	b.t.Helper()
	code, _, body := b.do("POST", "/api/command", `{"db": "`+db+`", "command": `+command+`}`, headers...)
	if code != status || !strings.Contains(body, fragment) {
		b.t.Errorf("%s: %d %s, want %d %q", command, code, body, status, fragment)
	}
	return body
}

func (b *browser) login(user, password string) int {
	b.t.Helper()
	code, _, body := b.do("POST", "/api/login", `{"user": "`+user+`", "password": "`+password+`"}`)
	if code == 200 {
		b.csrf = regexp.MustCompile(`"csrf":"([0-9a-f]+)"`).FindStringSubmatch(body)[1]
	}
	return code
}

// A server that listens on all addresses says one at which it can be reached, and at which the
// console lets a browser in.
func TestAddressesOfAnyInterface(t *testing.T) {
	for _, ip := range []string{"0.0.0.0", "::"} {
		srv := runServer(t, server.Config{BindIP: []string{ip}, ConsoleBindIP: ip, ConsolePort: -1})
		if !strings.HasPrefix(srv.URI(), "mongodb://127.0.0.1:") || !strings.HasPrefix(srv.ConsoleURL(), "http://127.0.0.1:") {
			t.Errorf("%s: %s, %s", ip, srv.URI(), srv.ConsoleURL())
		}
		if status, _, body := newBrowser(t, srv).do("GET", "/", ""); status != http.StatusOK {
			t.Errorf("%s: %d, %s", ip, status, body)
		}
	}
}

// The pages come from the server alone, compressed, and may load nothing from elsewhere.
func TestConsolePages(t *testing.T) {
	t.Parallel()
	b := newBrowser(t, runServer(t, server.Config{ConsolePort: -1}))
	total := 0
	files, err := filepath.Glob("console/web/*")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		path := "/" + filepath.Base(file)
		code, h, plain := b.do("GET", path, "")
		if code != 200 || h.Get("Content-Type") == "" || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("X-Frame-Options") != "DENY" {
			t.Errorf("%s: %d %v", path, code, h)
		}
		if csp := h.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'self'") || strings.Contains(csp, "unsafe") {
			t.Errorf("%s: CSP %q", path, csp)
		}
		_, h, packed := b.do("GET", path, "", "Accept-Encoding: gzip")
		z, err := gzip.NewReader(strings.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(z); err != nil || string(got) != plain {
			t.Errorf("%s: compressed content differs: %v", path, err)
		}
		total += len(packed)
		if code, _, _ := b.do("GET", path, "", "If-None-Match: "+h.Get("ETag")); code != http.StatusNotModified {
			t.Errorf("%s with its ETag: %d", path, code)
		}
		if strings.Contains(path, ".js") && regexp.MustCompile(`(?i)(src|href|fetch\(|import )[^\n]*https?://`).MatchString(strings.ReplaceAll(plain, "http://www.w3.org/2000/svg", "")) {
			t.Errorf("%s refers to another site", path)
		}
		if strings.Contains(plain, "<script>") || regexp.MustCompile(`<[a-z]+ [^>]*\son[a-z]+=`).MatchString(plain) {
			t.Errorf("%s has an inline script", path)
		}
	}
	if total > 300_000 {
		t.Errorf("the pages have %d bytes compressed", total)
	}
	if _, _, page := b.do("GET", "/", ""); !strings.Contains(page, "/app.js") {
		t.Errorf("the first page: %s", page)
	}
	t.Logf("%d files, %d bytes compressed", len(files), total)
	if code, _, _ := b.do("GET", "/nothing", ""); code != 404 {
		t.Errorf("an unknown page: %d", code)
	}
}

// The call with which a script moves the clock, as documented.
func TestConsoleMovesTheClock(t *testing.T) {
	t.Parallel()
	b := newBrowser(t, runServer(t, server.Config{ConsolePort: -1, TestClock: true, Parameters: map[string]string{"testClockStart": "2026-01-01T00:00:00Z"}}))
	b.command(200, `"now":{"$date":"2026-01-01T01:00:00Z"}`, "admin", `{"testClock": 1, "advanceSeconds": 3600}`)
	b.command(200, `"n":1`, "test", `{"insert": "c", "documents": [{"_id": {"$numberLong": "5"}}]}`)
	code, _, body := b.do("POST", "/api/command?json=canonical", `{"db": "test", "command": {"find": "c"}}`)
	if code != 200 || !strings.Contains(body, `"_id":{"$numberLong":"5"}`) {
		t.Errorf("canonical: %d %s", code, body)
	}
	b.command(200, `"code":26`, "test", `{"mqStats": "none"}`)
	if _, _, body := b.do("GET", "/api/session", ""); !strings.Contains(body, `"auth":false,"readOnly":false,"testClock":true`) {
		t.Errorf("session: %s", body)
	}
}

// Requests that a page of another site can cause are refused, as are broken ones.
func TestConsoleRefuses(t *testing.T) {
	t.Parallel()
	srv := runServer(t, server.Config{ConsolePort: -1, ConsoleHosts: []string{"db.example"}})
	b := newBrowser(t, srv)
	const ping = `{"ping": 1}`
	origin := strings.TrimSuffix(srv.ConsoleURL(), "/")
	_, port, _ := strings.Cut(strings.TrimPrefix(origin, "http://"), ":")
	b.command(200, `"ok":1`, "admin", ping, "Origin: "+origin)
	b.command(200, `"ok":1`, "admin", ping, "Host: localhost:"+port)
	b.command(200, `"ok":1`, "admin", ping, "Host: DB.example.")
	for _, headers := range [][]string{
		{"Host: evil.example"}, {"Host: evil.example:" + port}, {"Host: 10.0.0.1"}, {"Origin: http://evil.example"}, {"Origin: null"},
		{"Origin: https://127.0.0.1:1"}, {"Sec-Fetch-Site: cross-site"}, {"Sec-Fetch-Site: same-site"},
	} {
		b.command(403, "errmsg", "admin", ping, headers...)
	}
	if code, _, _ := b.do("GET", "/", "", "Host: evil.example"); code != 403 {
		t.Errorf("a page under another name: %d", code)
	}
	b.command(415, "application/json", "admin", ping, "Content-Type: text/plain")
	for body, want := range map[string]int{`{`: 400, `{"db": 1, "command": {}}`: 400, `{"db": "x"}`: 400, `[]`: 400,
		`{"db": "admin", "command": {"shutdown": 1}}`: 403, `{"db": "admin", "command": {}}`: 403, `{"db": "x", "command": {"dropDatabase": 1}}`: 403,
		`{"db": "admin", "command": {"saslStart": 1}}`: 403} {
		if code, _, text := b.do("POST", "/api/command", body); code != want {
			t.Errorf("%s: %d %s, want %d", body, code, text, want)
		}
	}
	if code, _, _ := b.do("POST", "/api/command", `{"db": "x", "command": {"ping": "`+strings.Repeat("x", 5<<20)+`"}}`); code != 413 {
		t.Errorf("a large body: %d", code)
	}
	if code, _, _ := b.do("GET", "/api/command", ""); code == 200 {
		t.Error("a command by GET")
	}
}

func TestConsoleReadOnly(t *testing.T) {
	t.Parallel()
	b := newBrowser(t, runServer(t, server.Config{ConsolePort: -1, ConsoleReadOnly: true, TestClock: true}))
	b.command(200, `"ok":1`, "admin", `{"testClock": 1}`)
	b.command(200, `"ok":1`, "admin", `{"expirationStats": 1}`)
	b.command(200, `"code":26`, "test", `{"mqPurge": "q", "dryRun": true}`)
	b.command(200, `"code":26`, "test", `{"mqSessions": "q"}`)
	for _, command := range []string{`{"insert": "c", "documents": [{}]}`, `{"testClock": 1, "advanceSeconds": 1}`, `{"mqPurge": "q"}`, `{"mqReceive": "q"}`, `{"mqAcceptSession": "q"}`,
		`{"aggregate": "c", "pipeline": [{"$match": {}}, {"$out": "d"}], "cursor": {}}`, `{"runExpirationPass": 1}`, `{"explain": {"delete": "c"}}`} {
		b.command(403, "read-only", "test", command)
	}
}

// With logins every call has the rights of its user, and needs the cookie and the token.
func TestConsoleLogin(t *testing.T) {
	t.Parallel()
	srv := runServer(t, server.Config{ConsolePort: -1, Auth: true, RootUser: "root", RootPassword: "secret"})
	root, stranger := newBrowser(t, srv), newBrowser(t, srv)
	stranger.command(401, "log in", "admin", `{"ping": 1}`)
	if code, _, _ := stranger.do("GET", "/api/events", ""); code != 401 {
		t.Errorf("events without a login: %d", code)
	}
	for _, wrong := range [][2]string{{"root", "wrong"}, {"nobody", "secret"}, {"", ""}} {
		if code := stranger.login(wrong[0], wrong[1]); code != 401 {
			t.Errorf("login of %v: %d", wrong, code)
		}
	}
	code, h, body := root.do("POST", "/api/login", `{"user": "root", "password": "secret"}`)
	cookie := h.Get("Set-Cookie")
	if code != 200 || !strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Strict") || strings.Contains(body, "secret") {
		t.Fatalf("login: %d %q %s", code, cookie, body)
	}
	root.command(403, "X-CSRF-Token", "admin", `{"ping": 1}`)
	root.command(403, "X-CSRF-Token", "admin", `{"ping": 1}`, "X-CSRF-Token: 00")
	if root.login("root", "secret") != 200 {
		t.Fatal("login")
	}
	root.command(200, `"ok":1`, "admin", `{"connectionStatus": 1}`)
	root.command(200, `"user":"root"`, "admin", `{"connectionStatus": 1}`)
	mustCreate := `{"insert": "c", "documents": [{"_id": 1}]}`
	root.command(200, `"n":1`, "shop", mustCreate)
	client := connect(t, srv, rootCredential())
	mustRun(t, client, "admin", createReader())
	reader := newBrowser(t, srv)
	if reader.login("ann", "pw") != 200 {
		t.Fatal("login of a reader")
	}
	reader.command(200, `"_id":1`, "shop", `{"find": "c"}`)
	reader.command(200, `"code":13`, "shop", `{"insert": "c", "documents": [{}]}`)
	reader.command(200, `"code":13`, "admin", `{"serverStatus": 1}`)
	if code, _, _ := root.do("POST", "/api/logout", "{}"); code != 200 {
		t.Errorf("logout: %d", code)
	}
	root.command(401, "log in", "admin", `{"ping": 1}`)
	if strings.Contains(cookie, "Secure") {
		t.Error("Secure without TLS")
	}
}

// Wrong passwords are counted by the address of the browser, as on the wire: replies after
// the fifth are delayed (semantics of auth.Throttle), and the right one is not.
func TestConsoleThrottlesLogins(t *testing.T) {
	t.Parallel()
	srv := runServer(t, server.Config{ConsolePort: -1, Auth: true, RootUser: "root", RootPassword: "secret"})
	b := newBrowser(t, srv)
	for range 5 {
		b.login("root", "wrong")
	}
	begin := time.Now()
	if code := b.login("root", "wrong"); code != 401 || time.Since(begin) < 100*time.Millisecond {
		t.Errorf("the sixth wrong password: %d after %s", code, time.Since(begin))
	}
	if code := b.login("root", "secret"); code != 200 {
		t.Errorf("the right password: %d", code)
	}
}

// With TLS the console has the server's certificate, and its cookie is for TLS alone.
func TestConsoleOverTLS(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	srv := runServer(t, server.Config{ConsolePort: -1, Auth: true, RootUser: "root", RootPassword: "secret",
		TLS: server.TLS{Mode: server.TLSRequire, CertificateKeyFile: a.issue("server.pem", pkix.Name{CommonName: "localhost"})}})
	if !strings.HasPrefix(srv.ConsoleURL(), "https://") {
		t.Fatalf("served at %s", srv.ConsoleURL())
	}
	b := newBrowser(t, srv)
	b.http.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: a.pool}
	code, h, body := b.do("POST", "/api/login", `{"user": "root", "password": "secret"}`)
	if cookie := h.Get("Set-Cookie"); code != 200 || !strings.Contains(cookie, "Secure") {
		t.Errorf("login: %d %q %s", code, cookie, body)
	}
	res, err := http.Get("http" + strings.TrimPrefix(srv.ConsoleURL(), "https"))
	if err != nil {
		return
	}
	defer res.Body.Close()
	if res.StatusCode == 200 {
		t.Error("served without TLS, too")
	}
}

// Events come as they happen, and the stream continues behind the last one seen.
func TestConsoleEvents(t *testing.T) {
	t.Parallel()
	srv := runServer(t, server.Config{ConsolePort: -1, TestClock: true})
	b := newBrowser(t, srv)
	b.command(200, `"ok":1`, "test", `{"createIndexes": "c", "indexes": [{"key": {"x": 1}, "name": "x_1", "expireAfterSeconds": 0}]}`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	first := events(t, ctx, srv, "?only=expirations", "")
	b.command(200, `"n":2`, "test", `{"insert": "c", "documents": [{"_id": 1, "x": {"$date": "2020-01-01T00:00:00Z"}}, {"_id": 2, "x": {"$date": "2020-01-01T00:00:00Z"}}]}`)
	b.command(200, `"ok":1`, "admin", `{"runExpirationPass": 1}`)
	id, data := next(t, first)
	if !strings.Contains(data, `"expiration"`) || !strings.Contains(data, `"operationType":"delete"`) {
		t.Errorf("event %s", data)
	}
	key := documentKey(t, data)
	cancel()
	again := events(t, t.Context(), srv, "?only=expirations", id)
	if _, data := next(t, again); documentKey(t, data) == key || !strings.Contains(data, `"expiration"`) {
		t.Errorf("after %d came %s", key, data)
	}
	if code, _, body := b.do("GET", "/api/events", "", "Last-Event-ID: broken"); code != 400 {
		t.Errorf("a broken token: %d %s", code, body)
	}
}

// However many documents expire, a page gets at most five frames a second with at most as
// many events as it asked for, and knows how many there were.
func TestConsoleEventsInFrames(t *testing.T) {
	t.Parallel()
	srv := runServer(t, server.Config{ConsolePort: -1, TestClock: true})
	b := newBrowser(t, srv)
	for _, wrong := range []string{"0", "501", "x"} {
		if code, _, body := b.do("GET", "/api/events?frame="+wrong, ""); code != 400 {
			t.Errorf("frame %s: %d %s", wrong, code, body)
		}
	}
	const docs, limit = 25_000, 20
	b.command(200, `"ok":1`, "test", `{"createIndexes": "c", "indexes": [{"key": {"x": 1}, "name": "x_1", "expireAfterSeconds": 0}]}`)
	for i := range 5 {
		list := make([]string, docs/5)
		for k := range list {
			list[k] = fmt.Sprintf(`{"_id": %d, "x": {"$date": "2020-01-01T00:00:00Z"}}`, i*docs/5+k)
		}
		b.command(200, `"ok":1`, "test", `{"insert": "c", "documents": [`+strings.Join(list, ",")+`]}`)
	}
	stream := events(t, t.Context(), srv, fmt.Sprintf("?only=expirations&frame=%d", limit), "")
	begin := time.Now()
	b.command(200, `"ok":1`, "admin", `{"runExpirationPass": 1}`)
	total, counted, frames, last := 0, 0, 0, ""
	for total < docs {
		id, data := next(t, stream)
		var f struct {
			Events  []json.RawMessage
			LeftOut int
			Counts  map[string]int
		}
		if err := json.Unmarshal([]byte(data), &f); err != nil {
			t.Fatalf("%v: %.200s", err, data)
		}
		frames, last = frames+1, id
		total, counted = total+len(f.Events)+f.LeftOut, counted+f.Counts["ttl"]
		if len(f.Events) == 0 || len(f.Events) > limit || f.LeftOut > 0 && len(f.Events) < limit {
			t.Errorf("a frame has %d events, and %d were left out", len(f.Events), f.LeftOut)
		}
	}
	if may := 2 + int(time.Since(begin)/(200*time.Millisecond)); frames > may {
		t.Errorf("%d frames in %s", frames, time.Since(begin))
	}
	if total != docs || counted != docs {
		t.Errorf("%d events, %d of TTL indexes, of %d", total, counted, docs)
	}
	again := events(t, t.Context(), srv, "?only=expirations&frame=20", last)
	b.command(200, `"n":1`, "test", `{"insert": "c", "documents": [{"_id": "late", "x": {"$date": "2020-01-01T00:00:00Z"}}]}`)
	b.command(200, `"ok":1`, "admin", `{"runExpirationPass": 1}`)
	if _, data := next(t, again); !strings.Contains(data, `"late"`) || !strings.Contains(data, `"leftOut":0`) {
		t.Errorf("after the last frame came %s", data)
	}
}

// events opens a stream and returns a reader behind its first comment.
func events(t *testing.T, ctx context.Context, srv *server.Server, query, after string) *bufio.Reader {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, "GET", srv.ConsoleURL()+"api/events"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	if after != "" {
		r.Header.Set("Last-Event-ID", after)
	}
	res, err := (&http.Client{Transport: &http.Transport{}}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("events: %d %v", res.StatusCode, res.Header)
	}
	return bufio.NewReader(res.Body)
}

// next reads the next event.
func next(t *testing.T, r *bufio.Reader) (id, data string) {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if v, ok := strings.CutPrefix(line, "id: "); ok {
			id = strings.TrimSpace(v)
		}
		if v, ok := strings.CutPrefix(line, "data: "); ok {
			return id, strings.TrimSpace(v)
		}
	}
}

func documentKey(t *testing.T, data string) int {
	t.Helper()
	var e struct {
		DocumentKey struct {
			ID int `json:"_id"`
		} `json:"documentKey"`
	}
	if err := json.NewDecoder(bytes.NewReader([]byte(data))).Decode(&e); err != nil {
		t.Fatal(err)
	}
	return e.DocumentKey.ID
}

// A command ends with its limit of time although the client would wait for longer.
func TestConsoleLimitsTime(t *testing.T) {
	t.Parallel()
	b := newBrowser(t, runServer(t, server.Config{ConsolePort: -1}))
	b.command(200, `"ok":1`, "test", `{"create": "q", "messageQueue": {}}`)
	begin := time.Now()
	b.command(200, `"code":50`, "test", `{"mqReceive": "q", "maxWaitTimeMS": 60000, "maxTimeMS": 50}`)
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
}

// A command whose browser disconnects ends at once, not with its limit of time: nobody
// waits for its reply any more.
func TestConsoleEndsCommandsOfBrowsersThatLeave(t *testing.T) {
	t.Parallel()
	srv := runServer(t, server.Config{ConsolePort: -1, Auth: true, RootUser: "root", RootPassword: "secret"})
	b, watcher := newBrowser(t, srv), connect(t, srv, rootCredential())
	if b.login("root", "secret") != 200 {
		t.Fatal("login")
	}
	b.command(200, `"ok":1`, "test", `{"create": "q", "messageQueue": {}}`)
	b.command(200, `"ok":1`, "test", `{"insert": "c", "documents": [{"_id": 1}]}`)
	commands := map[string]string{
		"waits":    `{"mqReceive": "q", "maxWaitTimeMS": 60000, "comment": "waits"}`,
		"computes": `{"aggregate": "c", "pipeline": [{"$set": {"r": {"$range": [0, 100000]}}}, {"$unwind": "$r"}, {"$set": {"s": {"$range": [0, 100000]}}}, {"$unwind": "$s"}, {"$match": {"s": -1}}], "cursor": {}, "comment": "computes"}`,
	}
	for name, command := range commands {
		ctx, leave := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, "POST", b.url+"api/command", strings.NewReader(`{"db": "test", "command": `+command+`}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("X-CSRF-Token", b.csrf)
		ended := make(chan error, 1)
		go func() {
			res, err := b.http.Do(r)
			if err == nil {
				_ = res.Body.Close()
			}
			ended <- err
		}()
		running := func() bool { return runs(t, watcher, name) }
		until(t, name+" runs", running)
		leave()
		if err := <-ended; err == nil {
			t.Errorf("%s ended by itself", name)
		}
		left := time.Now()
		until(t, name+" has ended", func() bool { return !running() })
		if took := time.Since(left); took > 10*time.Second {
			t.Errorf("%s ended %s after its browser had left", name, took)
		}
	}
	b.command(200, `"ok":1`, "admin", `{"ping": 1}`) // on another connection of the session
}

// runs reports whether an operation with a comment is under way.
func runs(t *testing.T, client *mongo.Client, comment string) bool {
	t.Helper()
	var out struct{ Inprog []bson.M }
	if err := client.Database("admin").RunCommand(t.Context(), bson.D{{Key: "currentOp", Value: 1}, {Key: "command.comment", Value: comment}}).Decode(&out); err != nil {
		t.Fatal(err)
	}
	return len(out.Inprog) > 0
}

// until asks the server until a condition holds that another goroutine brings about.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !done(); {
		if time.Now().After(end) {
			t.Fatalf("not so after a minute: %s", what)
		}
	}
}

func createReader() bson.D {
	return bson.D{{Key: "createUser", Value: "ann"}, {Key: "pwd", Value: "pw"}, {Key: "roles", Value: bson.A{bson.D{{Key: "role", Value: "read"}, {Key: "db", Value: "shop"}}}}}
}
