package server

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/duskdb/duskdb/internal/plain"
)

// lookupTime limits how long the addresses of one host name are looked up.
const lookupTime = 10 * time.Second

// resolve returns what the server listens on: the addresses that Config.BindIP names and
// those of its host names, and sockets, each once. As in mongod, a name without an address
// is skipped. An address of all interfaces stands for the others.
func (s *Server) resolve() (list []string, err error) {
	names := s.config.BindIP
	if len(names) == 0 {
		names = []string{"127.0.0.1"}
	}
	all := ""
	for _, name := range names {
		for _, endpoint := range s.endpointsOf(strings.TrimSpace(name)) {
			if addr, err := netip.ParseAddr(endpoint); err == nil && addr.IsUnspecified() && all == "" {
				all = endpoint
			}
			if !slices.Contains(list, endpoint) {
				list = append(list, endpoint)
			}
		}
	}
	if len(list) == 0 {
		return nil, errors.New("No available addresses/ports to bind to: --bind_ip names no address of this machine")
	}
	if all != "" {
		list = slices.DeleteFunc(list, func(endpoint string) bool { return endpoint != all && !strings.HasPrefix(endpoint, "/") })
	}
	return list, nil
}

// endpointsOf returns the addresses of a name, or the name if it is an address or the path of
// a socket.
func (s *Server) endpointsOf(name string) (list []string) {
	switch {
	case name == "":
		s.log.Warn().Msg("Skipping empty bind address")
		return nil
	case strings.HasPrefix(name, "/"):
		return []string{filepath.Clean(name)}
	case name == "localhost" && s.config.IPv6:
		return []string{"127.0.0.1", "::1"}
	case name == "localhost":
		return []string{"127.0.0.1"}
	}
	if addr, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
		return []string{addr.Unmap().String()}
	}
	network := "ip4"
	if s.config.IPv6 {
		network = "ip"
	}
	ctx, cancel := context.WithTimeout(s.ctx, lookupTime)
	defer cancel()
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, network, name)
	if err != nil {
		s.log.Warn().Str("name", name).Str("error", plain.Text(err)).Msg("Found no addresses")
	}
	for _, addr := range addrs {
		list = append(list, addr.Unmap().String())
	}
	return list
}
