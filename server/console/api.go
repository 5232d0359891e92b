package console

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"

	"github.com/duskdb/duskdb/value"
)

// sessionOf finds the session of a request; nil if it has none. known: the browser has one,
// but the request does not prove that the page with its token has made it.
func (c *Console) sessionOf(r *http.Request) (x *session, known bool) {
	cookie, err := r.Cookie(cookieName(r, c.secure(r)))
	if err != nil {
		return nil, false
	}
	return c.sessions.of(cookie.Value, r.Header.Get(csrfHeader))
}

// who finds the session of a request, or refuses it.
func (c *Console) who(w http.ResponseWriter, r *http.Request) (*session, bool) {
	if !c.options.Auth {
		return nil, true
	}
	x, known := c.sessionOf(r)
	switch {
	case x != nil:
		return x, true
	case known:
		refuse(w, http.StatusForbidden, "the header "+csrfHeader+" is missing or wrong")
	default:
		refuse(w, http.StatusUnauthorized, "log in first")
	}
	return nil, false
}

// session says what the console may do, and to its own page who has logged in.
func (c *Console) session(w http.ResponseWriter, r *http.Request) {
	x, _ := c.sessionOf(r)
	b := value.NewBuilder()
	b.Bool("auth", c.options.Auth).Bool("readOnly", c.options.ReadOnly).Bool("testClock", c.options.TestClock)
	if !c.options.Auth || x != nil { // strangers need not know it
		b.String("version", c.options.Version)
	}
	if x != nil {
		b.String("user", x.user.name)
	}
	answer(w, b.Doc())
}

// login checks a password as a connection of a driver would, with the same delays.
func (c *Console) login(w http.ResponseWriter, r *http.Request) {
	d, _, ok := c.body(w, r, maxLoginBody)
	if !ok {
		return
	}
	u := user{d.Lookup("db").Str(), d.Lookup("user").Str()}
	if u.db == "" {
		u.db = "admin"
	}
	k, err := newSecret(u.db, u.name, d.Lookup("password").Str())
	if err != nil || u.name == "" || !c.options.Auth {
		refuse(w, http.StatusUnauthorized, errLogin.Error())
		return
	}
	nc := newConn(c.options.Dial(remote(r)))
	defer context.AfterFunc(r.Context(), nc.close)()
	crowded, done := c.logins.enter(nc.close)
	err = nc.login(k, func(fn func() error) error { return c.logins.compute(r.Context(), fn) })
	done()
	if err != nil {
		nc.close()
		if crowded() {
			refuse(w, http.StatusServiceUnavailable, errBusy.Error())
		} else {
			refuse(w, http.StatusUnauthorized, errLogin.Error())
		}
		return
	}
	if x, _ := c.sessionOf(r); x != nil { // that the page had before
		c.sessions.replace(x)
	}
	x := c.sessions.open(u, k, c.cookieOf(r))
	x.keep(nc)
	http.SetCookie(w, cookie(r, c.secure(r), x.cookie))
	answer(w, value.NewDoc("ok", value.Int32(1), "user", value.String(u.name), "csrf", value.String(x.token)))
}

// cookieOf returns the cookie of a request, "" if it has none.
func (c *Console) cookieOf(r *http.Request) string {
	if cookie, err := r.Cookie(cookieName(r, c.secure(r))); err == nil {
		return cookie.Value
	}
	return ""
}

// logout ends the sessions of all tabs of the browser.
func (c *Console) logout(w http.ResponseWriter, r *http.Request) {
	x, ok := c.who(w, r)
	if !ok {
		return
	}
	if x != nil {
		c.sessions.forget(x.cookie)
	}
	http.SetCookie(w, cookie(r, c.secure(r), ""))
	answer(w, value.NewDoc("ok", value.Int32(1)))
}

// command runs {db, command}.
func (c *Console) command(w http.ResponseWriter, r *http.Request) {
	x, ok := c.who(w, r)
	if !ok {
		return
	}
	d, free, ok := c.body(w, r, maxBody)
	if !ok {
		return
	}
	freed := sync.OnceFunc(free)
	defer freed()
	db, command := d.Lookup("db"), d.Lookup("command")
	if db.Kind() != value.KindString || command.Kind() != value.KindDocument {
		refuse(w, http.StatusBadRequest, "the request must be {db: <string>, command: <document>}")
		return
	}
	if err := check(command.Doc(), c.options.ReadOnly); err != nil {
		refuse(w, http.StatusForbidden, err.Error())
		return
	}
	if !begin(w, c.running) {
		return
	}
	defer func() { <-c.running }()
	nc, reply, err := c.run(r, x, complete(db.Str(), command.Doc()))
	freed()
	switch {
	case errors.Is(err, errLogin):
		c.sessions.replace(x)
		refuse(w, http.StatusUnauthorized, "the session has ended: log in again")
	case err != nil:
		refuse(w, http.StatusBadGateway, "the server has closed the connection")
	default:
		c.finish(w, r, x, nc, reply)
	}
}

// finish passes the reply of a command on, and keeps its connection for the next.
func (c *Console) finish(w http.ResponseWriter, r *http.Request, x *session, nc *conn, reply io.Reader) {
	stop := context.AfterFunc(r.Context(), nc.close)
	err := c.pass(w, r, reply)
	if !stop() || err != nil || x == nil {
		nc.close()
	} else {
		x.keep(nc)
	}
	if err != nil {
		panic(http.ErrAbortHandler) // the client must not take the part that it has for the whole
	}
}

// complete adds the database and a limit of time to a command.
func complete(db string, command value.Doc) value.Doc {
	limit := commandTime.Milliseconds()
	if n, ok := command.Lookup("maxTimeMS").AsInt64(); ok && n > 0 {
		limit = min(limit, n)
	}
	b := value.NewBuilder()
	for it := command.Iter(); it.Next(); {
		if key := it.Key(); key != "maxTimeMS" && key != "$db" {
			b.Raw(it.Element())
		}
	}
	name, _ := command.First()
	if name != "getMore" { // whose limit is that of its cursor
		b.Int64("maxTimeMS", limit)
	}
	return b.String("$db", db).Doc()
}

// run runs a command on a connection of the session, until the reply arrives. If the client
// disconnects before, the connection is closed.
func (c *Console) run(r *http.Request, x *session, command value.Doc) (*conn, io.Reader, error) {
	for {
		nc, fresh, err := c.connect(r, x)
		if err != nil {
			return nil, nil, err
		}
		stop := context.AfterFunc(r.Context(), nc.close)
		reply, sent, err := nc.ask(command)
		switch {
		case !stop(), err != nil && (sent || fresh):
			nc.close()
			return nil, nil, errors.Join(err, r.Context().Err())
		case err != nil:
			nc.close() // it was closed while it was idle
		default:
			return nc, reply, nil
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
	if err := nc.login(x.secret, func(fn func() error) error { return fn() }); err != nil { // it has its keys
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
