package console

import (
	"context"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/duskdb/duskdb/value"
)

// refuse answers with an error that the pages can show.
func refuse(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, value.NewDoc("ok", value.Int32(0), "errmsg", value.String(text)).JSON()+"\n")
}

func answer(w http.ResponseWriter, r *http.Request, d value.Doc) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	text := ""
	if r.URL.Query().Get("json") == "canonical" {
		text = d.CanonicalJSON()
	} else {
		text = d.JSON()
	}
	_, _ = io.WriteString(w, text+"\n")
}

// body reads the JSON document of a request. A form on a page of another site cannot send
// this media type.
func body(w http.ResponseWriter, r *http.Request) (value.Doc, bool) {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind != "application/json" {
		refuse(w, http.StatusUnsupportedMediaType, "the Content-Type must be application/json")
		return nil, false
	}
	text, err := io.ReadAll(r.Body)
	if err != nil {
		refuse(w, http.StatusRequestEntityTooLarge, "the request is too large or incomplete")
		return nil, false
	}
	d, err := value.ParseJSON(string(text))
	if err != nil {
		refuse(w, http.StatusBadRequest, "the request is not a document in extended JSON: "+err.Error())
		return nil, false
	}
	return d, true
}

// who finds the session of a request, or refuses it. acts: the request needs the second
// token.
func (c *Console) who(w http.ResponseWriter, r *http.Request, acts bool) (*session, bool) {
	if !c.options.Auth {
		return nil, true
	}
	x := c.sessions.of(r)
	switch {
	case x == nil:
		refuse(w, http.StatusUnauthorized, "log in first")
		return nil, false
	case acts && !x.acts(r):
		refuse(w, http.StatusForbidden, "the header "+csrfHeader+" is missing or wrong")
		return nil, false
	}
	return x, true
}

// session says what the console may do.
func (c *Console) session(w http.ResponseWriter, r *http.Request) {
	x := c.sessions.of(r)
	b := value.NewBuilder()
	b.Bool("auth", c.options.Auth).Bool("readOnly", c.options.ReadOnly).Bool("testClock", c.options.TestClock)
	if !c.options.Auth || x != nil { // strangers need not know it
		b.String("version", c.options.Version)
	}
	if x != nil {
		b.String("user", x.user).String("csrf", x.csrf)
	}
	answer(w, r, b.Doc())
}

// login checks a password as a connection of a driver would, with the same delays.
func (c *Console) login(w http.ResponseWriter, r *http.Request) {
	d, ok := body(w, r)
	if !ok {
		return
	}
	source := d.Lookup("db").Str()
	if source == "" {
		source = "admin"
	}
	user := strings.Clone(d.Lookup("user").Str())
	k, err := newSecret(source, user, d.Lookup("password").Str())
	if err != nil || user == "" || !c.options.Auth {
		refuse(w, http.StatusUnauthorized, errLogin.Error())
		return
	}
	if !c.begin(w, c.running) {
		return
	}
	defer func() { <-c.running }()
	nc := newConn(c.options.Dial(remote(r)))
	defer context.AfterFunc(r.Context(), nc.close)()
	if err := nc.login(k); err != nil {
		nc.close()
		refuse(w, http.StatusUnauthorized, errLogin.Error())
		return
	}
	token, x, err := c.sessions.open(user, k)
	if err != nil {
		nc.close()
		refuse(w, http.StatusServiceUnavailable, err.Error())
		return
	}
	c.sessions.forget(r) // a session that the browser had before
	x.keep(nc)
	http.SetCookie(w, &http.Cookie{Name: cookieName, Value: token, Path: "/", HttpOnly: true, Secure: c.options.Secure, SameSite: http.SameSiteStrictMode})
	answer(w, r, value.NewDoc("ok", value.Int32(1), "user", value.String(user), "csrf", value.String(x.csrf)))
}

func (c *Console) logout(w http.ResponseWriter, r *http.Request) {
	if _, ok := c.who(w, r, true); !ok {
		return
	}
	c.sessions.forget(r)
	http.SetCookie(w, &http.Cookie{Name: cookieName, Path: "/", MaxAge: -1, HttpOnly: true, Secure: c.options.Secure, SameSite: http.SameSiteStrictMode})
	answer(w, r, value.NewDoc("ok", value.Int32(1)))
}

// begin takes one of a limited number of places.
func (c *Console) begin(w http.ResponseWriter, places chan struct{}) bool {
	select {
	case places <- struct{}{}:
		return true
	default:
		refuse(w, http.StatusServiceUnavailable, "the console is busy")
		return false
	}
}

// command runs {db, command}.
func (c *Console) command(w http.ResponseWriter, r *http.Request) {
	x, ok := c.who(w, r, true)
	if !ok {
		return
	}
	d, ok := body(w, r)
	if !ok {
		return
	}
	db, command := d.Lookup("db"), d.Lookup("command")
	if db.Kind() != value.KindString || command.Kind() != value.KindDocument {
		refuse(w, http.StatusBadRequest, "the request must be {db: <string>, command: <document>}")
		return
	}
	if err := check(command.Doc(), c.options.ReadOnly); err != nil {
		refuse(w, http.StatusForbidden, err.Error())
		return
	}
	if !c.begin(w, c.running) {
		return
	}
	defer func() { <-c.running }()
	reply, err := c.run(r, x, complete(db.Str(), command.Doc()))
	switch {
	case errors.Is(err, errLogin):
		c.sessions.forget(r)
		refuse(w, http.StatusUnauthorized, "the session has ended: log in again")
	case err != nil:
		refuse(w, http.StatusBadGateway, "the server has closed the connection")
	default:
		answer(w, r, reply)
	}
}

// complete adds the database and a limit of time to a command.
func complete(db string, command value.Doc) value.Doc {
	most := commandTime.Milliseconds()
	if n, ok := command.Lookup("maxTimeMS").AsInt64(); ok && n > 0 {
		most = min(most, n)
	}
	b := value.NewBuilder()
	for it := command.Iter(); it.Next(); {
		if key := it.Key(); key != "maxTimeMS" && key != "$db" {
			b.Raw(it.Element())
		}
	}
	name, _ := command.First()
	if name != "getMore" { // whose limit is that of its cursor
		b.Int64("maxTimeMS", most)
	}
	return b.String("$db", db).Doc()
}

// run runs a command on a connection of the session. If the client disconnects, the
// connection is closed.
func (c *Console) run(r *http.Request, x *session, command value.Doc) (value.Doc, error) {
	for {
		nc, fresh, err := c.connect(r, x)
		if err != nil {
			return nil, err
		}
		stop := context.AfterFunc(r.Context(), nc.close)
		reply, sent, err := nc.run(command)
		switch {
		case !stop(), err != nil && (sent || fresh):
			nc.close()
			return reply, err
		case err != nil:
			nc.close() // it was closed while it was idle
		default:
			if x == nil {
				nc.close()
			} else {
				x.keep(nc)
			}
			return reply, nil
		}
	}
}

// connect takes a connection of the session, or opens one and logs in.
func (c *Console) connect(r *http.Request, x *session) (nc *conn, fresh bool, err error) {
	if x != nil {
		if nc := x.take(); nc != nil {
			return nc, false, nil
		}
	}
	nc = newConn(c.options.Dial(remote(r)))
	if x == nil {
		return nc, true, nil
	}
	if err := nc.login(x.secret); err != nil {
		nc.close()
		return nil, true, err
	}
	return nc, true, nil
}

// remote is the address of the client.
func remote(r *http.Request) net.Addr {
	if at, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		return net.TCPAddrFromAddrPort(at)
	}
	return nil
}
