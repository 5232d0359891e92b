package commands

import (
	"encoding/base64"
	"strings"

	"github.com/duskdb/duskdb/auth"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

type saslStartArgs struct {
	Start         value.Value `arg:"saslStart,required"`
	Mechanism     string      `arg:"mechanism,required"`
	Payload       value.Value `arg:"payload,required"`
	AutoAuthorize value.Value `arg:"autoAuthorize"`
	Options       value.Doc   `arg:"options"`
	DB            string      `arg:"db"`
}

type saslContinueArgs struct {
	Continue     value.Value `arg:"saslContinue,required"`
	Conversation *int64      `arg:"conversationId,required"`
	Payload      value.Value `arg:"payload,required"`
}

var (
	saslStartSpec    = newArgs[saslStartArgs]("saslStart")
	saslContinueSpec = newArgs[saslContinueArgs]("saslContinue")
)

// conversationID is the id of every conversation: a connection has one at a
// time.
const conversationID = 1

func runSASLStart(c *Call) error {
	var a saslStartArgs
	if err := saslStartSpec.decode(c.Body, &a); err != nil {
		return err
	}
	return c.startSASL(&a, c.DB, c.reply)
}

// startSASL takes the first step of a login and writes the answer to b.
func (c *Call) startSASL(a *saslStartArgs, db string, b *value.Builder) error {
	c.conn.conversation = nil
	skip := a.Options.Lookup("skipEmptyExchange").Truthy()
	v, err := c.svc.auth.Begin(c.peer(), db, a.Mechanism, skip)
	if err != nil {
		return err
	}
	return c.stepSASL(v, a.Payload, b)
}

func runSASLContinue(c *Call) error {
	var a saslContinueArgs
	if err := saslContinueSpec.decode(c.Body, &a); err != nil {
		return err
	}
	v := c.conn.conversation
	switch {
	case v == nil:
		return mongoerr.New(mongoerr.ProtocolError, "No SASL session state found")
	case *a.Conversation != conversationID:
		return mongoerr.New(mongoerr.ProtocolError, "sasl: Mismatched conversation id")
	case v.DB() != c.DB:
		c.conn.conversation = nil
		return mongoerr.New(mongoerr.ProtocolError, "Attempt to switch database target during SASL authentication.")
	}
	return c.stepSASL(v, a.Payload, c.reply)
}

// stepSASL takes a step of a login. The payload comes as bytes, or as base64
// text, and goes back likewise.
func (c *Call) stepSASL(v *auth.Conversation, payload value.Value, b *value.Builder) error {
	c.conn.conversation = nil
	data, err := saslPayload(payload)
	if err != nil {
		return err
	}
	reply, done, err := v.Step(c.ctx, data)
	if err == nil && done {
		err = c.login(v.User())
	}
	if err != nil {
		c.logLogin(v.Name(), v.Mechanism(), err)
		return err
	}
	if done {
		c.logLogin(v.Name(), v.Mechanism(), nil)
	} else {
		c.conn.conversation = v
	}
	b.Int32("conversationId", conversationID).Bool("done", done)
	if payload.Kind() == value.KindString {
		b.String("payload", base64.StdEncoding.EncodeToString(reply))
		return nil
	}
	b.Append("payload", value.Binary(0, reply))
	return nil
}

func saslPayload(v value.Value) ([]byte, error) {
	switch v.Kind() {
	case value.KindBinary:
		_, data := v.Binary()
		return data, nil
	case value.KindString:
		data, err := base64.StdEncoding.DecodeString(v.Str())
		if err != nil {
			return nil, mongoerr.New(mongoerr.FailedToParse, "payload is not valid base64")
		}
		return data, nil
	}
	return nil, wrongType("saslStart", "payload", v, "binData, string")
}

// login makes the user the one the connection acts for.
func (c *Call) login(u *auth.User) error {
	if now := c.conn.user; now != nil && now.Name != u.Name {
		return mongoerr.Newf(5626701, "Each client connection may only be authenticated once. Previously authenticated as: %s", now.Name)
	}
	c.conn.user = u
	return nil
}

func (c *Call) logLogin(n auth.Name, mechanism string, err error) {
	line := c.svc.log.Info()
	text := "Successfully authenticated"
	if err != nil {
		line, text = c.svc.log.Warn().Err(err), "Failed to authenticate"
	}
	line.Str("user", n.Name).Str("db", n.DB).Str("mechanism", mechanism).Str("remote", c.conn.Remote).Msg(text)
}

func (c *Call) peer() auth.Peer { return auth.Peer{Remote: c.conn.Remote, Local: c.conn.Local} }

type authenticateArgs struct {
	Authenticate value.Value `arg:"authenticate,required"`
	Mechanism    *string     `arg:"mechanism"`
	User         *string     `arg:"user"`
	DB           string      `arg:"db"`
	Digest       value.Value `arg:"digestPassword"`
	Key          value.Value `arg:"key"`
	Nonce        value.Value `arg:"nonce"`
	Pwd          value.Value `arg:"pwd"`
}

var authenticateSpec = newArgs[authenticateArgs]("authenticate")

func runAuthenticate(c *Call) error {
	var a authenticateArgs
	if err := authenticateSpec.decode(c.Body, &a); err != nil {
		return err
	}
	return c.authenticateX509(&a, c.DB, c.reply)
}

// authenticateX509 logs in whom the client's certificate names.
func (c *Call) authenticateX509(a *authenticateArgs, db string, b *value.Builder) error {
	n := auth.Name{Name: c.conn.subject, DB: auth.External}
	err := c.checkX509(a, db)
	if err == nil {
		var u *auth.User
		if u, err = c.svc.auth.LoginX509(c.ctx, c.peer(), c.conn.subject); err == nil {
			err = c.login(u)
		}
	}
	c.logLogin(n, auth.X509, err)
	if err != nil {
		return err
	}
	b.String("dbname", auth.External).String("user", n.Name)
	return nil
}

func (c *Call) checkX509(a *authenticateArgs, db string) error {
	switch {
	case a.Mechanism == nil:
		return mongoerr.New(mongoerr.BadValue, "Auth mechanism not specified")
	case *a.Mechanism != auth.X509:
		return mongoerr.Newf(mongoerr.BadValue, "Unsupported mechanism: %s", *a.Mechanism)
	case db != auth.External:
		return mongoerr.New(mongoerr.ProtocolError, "X.509 authentication must always use the $external database.")
	case c.conn.subject == "":
		return mongoerr.New(mongoerr.AuthenticationFailed, "No verified subject name available from client")
	case a.User != nil && *a.User != c.conn.subject:
		return mongoerr.New(mongoerr.AuthenticationFailed, "There is no x.509 client certificate matching the user.")
	}
	return nil
}

// runLogout logs out the user if it is one of this database.
func runLogout(c *Call) error {
	if u := c.conn.user; u != nil && u.Name.DB == c.DB {
		c.conn.user = nil
		c.svc.log.Info().Str("user", u.Name.Name).Str("db", u.Name.DB).Str("remote", c.conn.Remote).Msg("Logged out")
	}
	c.conn.conversation = nil
	return nil
}

// helloAuth writes the answers of hello to a client that is about to log in:
// the user's mechanisms, and the first step of a login sent along.
func (c *Call) helloAuth(a *helloArgs) error {
	if !a.SASLMechs.IsNullish() {
		if a.SASLMechs.Kind() != value.KindString {
			return wrongType("hello", "saslSupportedMechs", a.SASLMechs, "string")
		}
		n, err := auth.ParseID(strings.Clone(a.SASLMechs.Str()))
		if err != nil {
			return err
		}
		names, err := c.svc.auth.SupportedMechanisms(c.ctx, n)
		if err != nil {
			return err
		}
		c.reply.StartArray("saslSupportedMechs")
		for _, name := range names {
			c.reply.String("", name)
		}
		c.reply.End()
	}
	if a.Speculative == nil {
		return nil
	}
	if answer := c.speculate(a.Speculative); answer != nil {
		c.reply.Document("speculativeAuthenticate", answer)
	}
	return nil
}

// speculate tries a login that was sent along with hello. If it fails there
// is no answer, and the client starts over by itself.
func (c *Call) speculate(d value.Doc) value.Doc {
	b := value.NewBuilder()
	var err error
	switch name, _ := d.First(); name {
	case "saslStart":
		var a saslStartArgs
		if err = saslStartSpec.decode(d, &a); err == nil {
			err = c.startSASL(&a, databaseOr(a.DB, "admin"), b)
		}
	case "authenticate":
		var a authenticateArgs
		if err = authenticateSpec.decode(d, &a); err == nil {
			err = c.authenticateX509(&a, databaseOr(a.DB, auth.External), b)
		}
	default:
		return nil
	}
	if err != nil {
		return nil
	}
	return b.Doc()
}

func databaseOr(db, otherwise string) string {
	if db == "" {
		return otherwise
	}
	return db
}
