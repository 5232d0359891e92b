package server

import (
	"context"
	"crypto/tls"
	"errors"
	"net"

	"github.com/duskdb/duskdb/value"
	"github.com/duskdb/duskdb/wire"
)

// askSelf returns the identity of the server at an address, which may be this
// server. It sends the command _isSelf, as the members of mongod's replica
// sets do. It does not check the server's certificate, because it sends no
// secrets.
func (s *Server) askSelf(ctx context.Context, address string) (value.OID, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return value.OID{}, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if s.config.TLS.Mode == TLSRequire {
		conn = tls.Client(conn, &tls.Config{InsecureSkipVerify: true})
	}
	reply, err := wire.NewClient(conn).RoundTrip(value.NewDoc("_isSelf", value.Int32(1), "$db", value.String("admin")))
	if err != nil {
		return value.OID{}, err
	}
	id := reply.Body.Lookup("id")
	if id.Kind() != value.KindObjectID {
		return value.OID{}, errors.New("the server at " + address + " does not report its identity")
	}
	return id.ObjectID(), nil
}
