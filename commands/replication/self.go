package replication

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/replset"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// findSelf returns the index of the member of a configuration that is this server. present
// is the one in force.
func findSelf(c *kernel.Call, config, present *replset.Config) (self int, err error) {
	self = -1
	for i, m := range config.Members {
		switch {
		case !isSelf(c, m.Host, present):
		case self >= 0:
			return 0, mongoerr.Newf(mongoerr.InvalidReplicaSetConfig, "The hosts %s and %s all map to this node in new configuration with %s for replica set %s", config.Members[self].Host, m.Host, config.VersionAndTerm(), config.Name)
		default:
			self = i
		}
	}
	if self < 0 {
		return 0, mongoerr.Newf(mongoerr.NodeNotFound, "No host described in new configuration with %s for replica set %s maps to this node", config.VersionAndTerm(), config.Name)
	}
	return self, nil
}

// askTime bounds the look-up of a host's addresses, and the request to the host.
const askTime = 5 * time.Second

// isSelf reports whether a "host:port" is this server. It is if hello reports it already, or
// if it is an address of this machine with the port that the client has connected to, or if
// this server itself answers there, for example at a port that a container publishes. With
// --advertiseHost only that address is this server. present is the configuration in force.
func isSelf(c *kernel.Call, address string, present *replset.Config) bool {
	if address == memberHost(c, present) {
		return true
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil || c.Svc.Options.AdvertiseHost != "" {
		return false
	}
	ctx, cancel := context.WithTimeout(c.Ctx, askTime)
	defer cancel()
	if _, own, _ := net.SplitHostPort(c.Conn.Local); port == own && ownHost(ctx, host) {
		return true
	}
	if c.Svc.Options.AskSelf == nil {
		return false
	}
	id, err := c.Svc.Options.AskSelf(ctx, address)
	return err == nil && id == c.Svc.Instance
}

// runIsSelf identifies the process that answers, so that a server finds out whether an address
// is its own.
func runIsSelf(c *kernel.Call) error {
	c.Reply.Append("id", value.ObjectID(c.Svc.Instance))
	return nil
}

// ownHost reports whether a name or address is this machine's.
func ownHost(ctx context.Context, host string) bool {
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return false
	}
	mine, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	for _, a := range addresses {
		if a.Unmap().IsLoopback() || ownAddress(mine, a.Unmap()) {
			return true
		}
	}
	return false
}

func ownAddress(mine []net.Addr, a netip.Addr) bool {
	for _, m := range mine {
		if prefix, err := netip.ParsePrefix(fmt.Sprint(m)); err == nil && prefix.Addr().Unmap() == a.WithZone("") {
			return true
		}
	}
	return false
}
