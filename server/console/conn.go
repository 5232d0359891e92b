package console

import (
	"errors"
	"io"
	"net"

	"github.com/xdg-go/scram"

	"github.com/duskdb/duskdb/value"
	"github.com/duskdb/duskdb/wire"
)

// conn is a connection to the server within the process.
type conn struct {
	nc     net.Conn
	client *wire.Client
}

func newConn(nc net.Conn) *conn { return &conn{nc, wire.NewClient(nc)} }

func (c *conn) close() { _ = c.nc.Close() }

// run sends a command and returns the reply, also that of a command that failed. The reply
// is valid until the next command.
func (c *conn) run(command value.Doc) (value.Doc, error) {
	m, err := c.client.RoundTrip(command)
	if err != nil {
		return nil, err
	}
	return m.Body, value.Validate(m.Body)
}

// ask sends a command and returns the document of the reply, also that of a command that
// failed, which is read while it arrives. sent reports whether the command may have reached the
// server.
func (c *conn) ask(command value.Doc) (reply io.Reader, sent bool, err error) {
	if _, err := c.client.Send(0, command); err != nil {
		return nil, false, err
	}
	reply, err = c.client.Stream()
	return reply, true, err
}

// secret is what a login needs: it holds keys made of the password, which a new
// connection of the session needs again.
type secret struct {
	source string
	client *scram.Client
}

func newSecret(source, user, password string) (*secret, error) {
	c, err := scram.SHA256.NewClient(user, password, "")
	return &secret{source, c}, err
}

// errLogin is a login that the server has refused.
var errLogin = errors.New("authentication failed")

// login proves to the server who the user is, as a driver does. compute runs what costs
// processor time.
func (c *conn) login(k *secret, compute func(fn func() error) error) error {
	talk := k.client.NewConversation()
	text, err := talk.Step("")
	if err != nil {
		return errLogin
	}
	reply, err := c.run(value.NewDoc("saslStart", value.Int32(1), "mechanism", value.String("SCRAM-SHA-256"),
		"payload", value.Binary(0, []byte(text)), "$db", value.String(k.source)))
	for {
		switch {
		case err != nil:
			return err
		case !reply.Lookup("ok").Truthy():
			return errLogin
		case reply.Lookup("done").Truthy():
			if !talk.Valid() {
				return errLogin
			}
			return nil
		}
		_, payload := reply.Lookup("payload").Binary()
		if err := compute(func() (err error) { text, err = talk.Step(string(payload)); return }); err != nil {
			return errLogin
		}
		reply, err = c.run(value.NewDoc("saslContinue", value.Int32(1), "conversationId", reply.Lookup("conversationId"),
			"payload", value.Binary(0, []byte(text)), "$db", value.String(k.source)))
	}
}
