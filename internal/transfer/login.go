package transfer

import (
	"crypto/md5" //nolint:gosec // the protocol's
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/xdg-go/scram"

	"github.com/duskdb/duskdb/value"
)

type login struct{ source, user, password, mechanism string }

// Login proves to the server who the user is. The mechanism is SCRAM-SHA-256
// (also if it is empty) or SCRAM-SHA-1.
func (c *Conn) Login(source, user, password, mechanism string) error {
	hash := scram.SHA256
	switch mechanism {
	case "", "SCRAM-SHA-256":
		mechanism = "SCRAM-SHA-256"
	case "SCRAM-SHA-1":
		hash = scram.SHA1
		sum := md5.Sum([]byte(user + ":mongo:" + password)) //nolint:gosec // the protocol's
		password = hex.EncodeToString(sum[:])
	default:
		return fmt.Errorf("mechanism %s is not supported", mechanism)
	}
	newClient := hash.NewClient
	if mechanism == "SCRAM-SHA-1" {
		newClient = hash.NewClientUnprepped
	}
	client, err := newClient(user, password, "")
	if err != nil {
		return err
	}
	return c.converse(client.NewConversation(), source, mechanism)
}

// converse exchanges messages until both sides are satisfied.
func (c *Conn) converse(talk *scram.ClientConversation, source, mechanism string) error {
	text, err := talk.Step("")
	if err != nil {
		return err
	}
	reply, err := c.Run(value.NewDoc("saslStart", value.Int32(1), "mechanism", value.String(mechanism),
		"payload", value.Binary(0, []byte(text)), "$db", value.String(source)))
	for err == nil && !reply.Lookup("done").Truthy() {
		_, payload := reply.Lookup("payload").Binary()
		if text, err = talk.Step(string(payload)); err != nil {
			return err
		}
		reply, err = c.Run(value.NewDoc("saslContinue", value.Int32(1), "conversationId", reply.Lookup("conversationId"),
			"payload", value.Binary(0, []byte(text)), "$db", value.String(source)))
	}
	if err == nil && !talk.Valid() {
		_, payload := reply.Lookup("payload").Binary()
		if _, err = talk.Step(string(payload)); err == nil && !talk.Valid() {
			err = errors.New("the server did not prove that it knows the password")
		}
	}
	return err
}
