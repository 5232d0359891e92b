package console

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
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
	if origin := r.Header.Get("Origin"); origin != "" {
		u, err := url.Parse(origin)
		if err != nil || u.Host != r.Host {
			return errors.New("the request comes from another site")
		}
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
