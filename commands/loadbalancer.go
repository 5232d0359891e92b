package commands

import (
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/transaction"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// A load balancer gives each connection of a client to any of several servers. Therefore a
// driver sends what belongs together (a cursor, a transaction) over one connection, and
// distinguishes the servers by the service id in their first reply.

// helloBalanced adds the service id to the first reply to a client that came through a load
// balancer. Clients that do not know this are refused.
func helloBalanced(c *kernel.Call, loadBalanced bool) error {
	if !c.Conn.FirstGreeting() {
		return nil
	}
	if !loadBalanced {
		return mongoerr.New(mongoerr.LoadBalancerSupportMismatch, "The server is being accessed through a load balancer, but this driver does not have load balancing enabled")
	}
	c.Conn.Balanced = true
	c.Svc.Metrics.Connections.Balanced.Add(1)
	c.Reply.Append("serviceId", value.ObjectID(c.Svc.ServiceID))
	return nil
}

// endBalanced ends the cursors and the transaction of a client that came through a load
// balancer and has gone, and the cursors of others that end with their connection.
func endBalanced(s *kernel.Service, conn *kernel.Conn) {
	if !conn.FromBalancer && !conn.OwnCursors {
		return
	}
	if conn.Balanced {
		s.Metrics.Connections.Balanced.Add(-1)
	}
	s.Cursors.KillWhere(func(cur *kernel.Cursor) bool { return cur.Conn == conn.ID })
	if ss := conn.LastTransaction(); ss != nil {
		if t := ss.Txn.Load(); t != nil {
			transaction.AbortLater(s, ss, t)
		}
	}
}
