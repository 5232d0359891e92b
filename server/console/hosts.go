package console

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// checkHost refuses requests that a page of another site has caused. A site can make its
// own name lead to this machine (DNS rebinding), so that the browser takes the console for
// a part of that site; but it cannot change the Host header.
func (c *Console) checkHost(r *http.Request) error {
	if !c.knows(hostOf(r.Host), r) {
		return fmt.Errorf("the console is not known as %q; --consoleHost adds a name", r.Host)
	}
	if origin := r.Header.Get("Origin"); origin != "" && !strings.EqualFold(origin, c.origin(r)) {
		return errors.New("the request comes from another site")
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return nil
	}
	if r.Method == http.MethodGet && !strings.HasPrefix(r.URL.Path, "/api/") {
		return nil // a link on another page
	}
	return errors.New("the request comes from another site")
}

// origin is what browsers call the site of the console.
func (c *Console) origin(r *http.Request) string {
	if c.secure(r) {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// secure reports whether the browser uses TLS, with the console or with a proxy before it. A
// page of another site cannot set the header.
func (c *Console) secure(r *http.Request) bool {
	return c.options.Secure || r.Header.Get("X-Forwarded-Proto") == "https"
}

// checkPage refuses a GET that may be an image on a page of another site. Browsers say where
// a request comes from only if they trust the connection: over TLS, and to this machine.
// Otherwise it must have a header that no page of another site can send.
func (c *Console) checkPage(r *http.Request) error {
	host := hostOf(r.Host)
	ip, _ := netip.ParseAddr(host)
	if c.secure(r) || ip.IsLoopback() || strings.EqualFold(host, "localhost") || r.Header.Get("Sec-Fetch-Site") != "" || r.Header.Get(csrfHeader) != "" {
		return nil
	}
	return errors.New("the header " + csrfHeader + " is missing; without --auth it may have any value")
}

// knows reports whether the console has a name.
func (c *Console) knows(host string, r *http.Request) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || host == c.options.BindIP || slices.ContainsFunc(c.options.Hosts, func(h string) bool { return strings.EqualFold(h, host) }) {
		return true
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	if ip.IsLoopback() {
		return true
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr) // listening on all addresses
	return local != nil && hostOf(local.String()) == host
}

// hostOf returns the host without its port.
func hostOf(hostPort string) string {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		host = hostPort
	}
	return strings.Trim(host, "[]")
}
