package users

import (
	"encoding/base64"
	"strings"

	"github.com/duskdb/duskdb/commands/access"
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/auth"
	"github.com/duskdb/duskdb/internal/mongoerr"
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
	saslStartSpec    = args.New[saslStartArgs]("saslStart")
	saslContinueSpec = args.New[saslContinueArgs]("saslContinue")
)

// conversationID is the id of every conversation: a connection has one at a
// time.
const conversationID = 1

func runSASLStart(c *kernel.Call) error {
	var a saslStartArgs
	if err := saslStartSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	return startSASL(c, &a, c.DB, c.Reply)
}

// startSASL takes the first step of a login and writes the answer to b.
func startSASL(c *kernel.Call, a *saslStartArgs, db string, b *value.Builder) error {
	c.Conn.Conversation = nil
	skip := a.Options.Lookup("skipEmptyExchange").Truthy()
	v, err := c.Svc.Auth.Begin(peer(c), db, a.Mechanism, skip)
	if err != nil {
		return err
	}
	return stepSASL(c, v, a.Payload, b)
}

func runSASLContinue(c *kernel.Call) error {
	var a saslContinueArgs
	if err := saslContinueSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	v := c.Conn.Conversation
	switch {
	case v == nil:
		return mongoerr.New(mongoerr.ProtocolError, "No SASL session state found")
	case *a.Conversation != conversationID:
		return mongoerr.New(mongoerr.ProtocolError, "sasl: Mismatched conversation id")
	case v.DB() != c.DB:
		c.Conn.Conversation = nil
		return mongoerr.New(mongoerr.ProtocolError, "Attempt to switch database target during SASL authentication.")
	}
	return stepSASL(c, v, a.Payload, c.Reply)
}

// stepSASL takes a step of a login. The payload is binary data or base64 text, and
// the payload of the reply has the same form.
func stepSASL(c *kernel.Call, v *auth.Conversation, payload value.Value, b *value.Builder) error {
	c.Conn.Conversation = nil
	data, err := saslPayload(payload)
	if err != nil {
		return err
	}
	reply, done, err := v.Step(c.Ctx, data)
	if err == nil && done {
		err = login(c, v.User())
	}
	if err != nil {
		logLogin(c, v.Name(), v.Mechanism(), err)
		return err
	}
	if done {
		logLogin(c, v.Name(), v.Mechanism(), nil)
	} else {
		c.Conn.Conversation = v
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
	return nil, args.WrongType("saslStart", "payload", v, "binData, string")
}

// login sets the user of the connection.
func login(c *kernel.Call, u *auth.User) error {
	if now := c.Conn.User; now != nil && now.Name != u.Name {
		return mongoerr.Newf(5626701, "Each client connection may only be authenticated once. Previously authenticated as: %s", now.Name)
	}
	c.Conn.SetUser(u)
	return nil
}

func logLogin(c *kernel.Call, n auth.Name, mechanism string, err error) {
	line := c.Svc.Log.Info()
	text := "Successfully authenticated"
	if err != nil {
		line, text = c.Svc.Log.Warn().Err(err), "Failed to authenticate"
	}
	line.Str("ctx", c.Conn.Context()).Str("user", n.Name).Str("db", n.DB).Str("mechanism", mechanism).Str("remote", c.Conn.Remote).Msg(text)
}

func peer(c *kernel.Call) auth.Peer { return auth.Peer{Remote: c.Conn.Remote, Local: c.Conn.Local} }

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

var authenticateSpec = args.New[authenticateArgs]("authenticate")

func runAuthenticate(c *kernel.Call) error {
	var a authenticateArgs
	if err := authenticateSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	return authenticateX509(c, &a, c.DB, c.Reply)
}

// authenticateX509 authenticates the user that the client's certificate names.
func authenticateX509(c *kernel.Call, a *authenticateArgs, db string, b *value.Builder) error {
	n := auth.Name{Name: c.Conn.Subject, DB: auth.External}
	err := checkX509(c, a, db)
	if err == nil {
		var u *auth.User
		if u, err = c.Svc.Auth.LoginX509(c.Ctx, peer(c), c.Conn.Subject); err == nil {
			err = login(c, u)
		}
	}
	logLogin(c, n, auth.X509, err)
	if err != nil {
		return err
	}
	b.String("dbname", auth.External).String("user", n.Name)
	return nil
}

func checkX509(c *kernel.Call, a *authenticateArgs, db string) error {
	switch {
	case a.Mechanism == nil:
		return mongoerr.New(mongoerr.BadValue, "Auth mechanism not specified")
	case *a.Mechanism != auth.X509:
		return mongoerr.Newf(mongoerr.BadValue, "Unsupported mechanism: %s", *a.Mechanism)
	case db != auth.External:
		return mongoerr.New(mongoerr.ProtocolError, "X.509 authentication must always use the $external database.")
	case c.Conn.Subject == "":
		return mongoerr.New(mongoerr.AuthenticationFailed, "No verified subject name available from client")
	case a.User != nil && *a.User != c.Conn.Subject:
		return mongoerr.New(mongoerr.AuthenticationFailed, "There is no x.509 client certificate matching the user.")
	}
	return nil
}

// runLogout logs out the user if it is a user of this database.
func runLogout(c *kernel.Call) error {
	if u := c.Conn.User; u != nil && u.Name.DB == c.DB {
		c.Conn.SetUser(nil)
		c.Svc.Log.Info().Str("user", u.Name.Name).Str("db", u.Name.DB).Str("remote", c.Conn.Remote).Msg("Logged out")
	}
	c.Conn.Conversation = nil
	return nil
}

// HelloAuth writes the fields of hello for a client that logs in: the user's
// mechanisms, and the result of the first step of a login that hello contained.
func HelloAuth(c *kernel.Call, a *HelloArgs) error {
	if !a.SASLMechs.IsMissing() {
		n, err := askedUser(a.SASLMechs)
		if err != nil {
			return err
		}
		names, err := c.Svc.Auth.SupportedMechanisms(c.Ctx, n)
		if err != nil {
			return err
		}
		c.Reply.StartArray("saslSupportedMechs")
		for _, name := range names {
			c.Reply.String("", name)
		}
		c.Reply.End()
	}
	if a.Speculative == nil {
		return nil
	}
	if answer := speculate(c, a.Speculative); answer != nil {
		c.Reply.Document("speculativeAuthenticate", answer)
	}
	return nil
}

// askedUser reads the user whose mechanisms a client asks for: "db.user" or {user, db}. null
// is no absent user here.
func askedUser(v value.Value) (n auth.Name, err error) {
	switch v.Kind() {
	case value.KindString:
		return auth.ParseID(strings.Clone(v.Str()))
	case value.KindDocument:
	default:
		return n, args.WrongType("hello", "saslSupportedMechs", v, "string, object")
	}
	parts := map[string]*string{"user": &n.Name, "db": &n.DB}
	for name, part := range v.Doc().All() {
		switch {
		case parts[name] == nil:
			return n, mongoerr.Newf(mongoerr.BadValue, "UserName contains an unexpected field named: %s", name)
		case part.Kind() != value.KindString:
			return n, mongoerr.Newf(mongoerr.BadValue, "UserName must contain a string field named: %s", name)
		}
		*parts[name] = strings.Clone(part.Str())
	}
	for _, name := range []string{"user", "db"} {
		if !v.Doc().Has(name) {
			return n, mongoerr.Newf(mongoerr.BadValue, "UserName must contain a field named: %s", name)
		}
	}
	return n, nil
}

// speculate takes the first step of a login that hello contained. If it fails, the
// reply of hello does not have the field, and the client starts the login again.
func speculate(c *kernel.Call, d value.Doc) value.Doc {
	b := value.NewBuilder()
	var err error
	switch name, _ := d.First(); name {
	case "saslStart":
		var a saslStartArgs
		if err = saslStartSpec.Decode(d, &a); err == nil {
			err = startSASL(c, &a, access.DatabaseOr(a.DB, "admin"), b)
		}
	case "authenticate":
		var a authenticateArgs
		if err = authenticateSpec.Decode(d, &a); err == nil {
			err = authenticateX509(c, &a, access.DatabaseOr(a.DB, auth.External), b)
		}
	default:
		return nil
	}
	if err != nil {
		return nil
	}
	return b.Doc()
}

// HelloArgs are the arguments of hello and isMaster.
type HelloArgs struct {
	Hello           value.Value    `arg:"hello"`
	IsMaster        value.Value    `arg:"isMaster"`
	Ismaster        value.Value    `arg:"ismaster"`
	HelloOk         args.LooseBool `arg:"helloOk"`
	Client          value.Doc      `arg:"client"`
	Compression     args.Array     `arg:"compression"`
	SASLMechs       value.Value    `arg:"saslSupportedMechs,any"`
	Speculative     value.Doc      `arg:"speculativeAuthenticate"`
	TopologyVersion value.Doc      `arg:"topologyVersion"`
	MaxAwaitTimeMS  *int64         `arg:"maxAwaitTimeMS,nonneg"`
	LoadBalanced    args.LooseBool `arg:"loadBalanced"`
}
