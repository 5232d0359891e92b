package commands

import (
	"slices"
	"time"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/replication"
	"github.com/duskdb/duskdb/commands/session"
	"github.com/duskdb/duskdb/commands/users"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

func handshakeCommands() []kernel.Command {
	return []kernel.Command{
		{Name: "hello", Run: runHello, Flags: kernel.PreAuth | kernel.Handshake | kernel.Waits, Help: "describe the server and keep the handshake"},
		{Name: "isMaster", Aliases: []string{"ismaster"}, Run: runHello, Flags: kernel.PreAuth | kernel.Handshake | kernel.Waits, Help: "hello, as older clients say it"},
		{Name: "ping", Run: runPing, Flags: kernel.PreAuth | kernel.NoSession | kernel.Bare, Help: "answer, to show that the server lives"},
	}
}

var helloSpec = args.New[users.HelloArgs]("hello").Lenient()

// runHello answers hello and isMaster. With topologyVersion and
// maxAwaitTimeMS it is awaitable: the reply comes when the topology changes,
// as when the member steps down, or when the time is over.
func runHello(c *kernel.Call) error {
	var a users.HelloArgs
	if err := helloSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	if err := introduce(c.Conn, a.Client); err != nil {
		return err
	}
	if a.Client != nil {
		logMetadata(c, a.Client)
	}
	if err := awaitTopology(c, &a); err != nil {
		return err
	}
	// The version is read first: the reply may be newer than its version, which the
	// next reply corrects, but never older.
	version := c.Svc.Leader.Changed.Count()
	b, primary := c.Reply, !c.Svc.Leader.SteppedDown.Load()
	if c.Exhaust && a.TopologyVersion != nil {
		c.Response.Next = nextHello(c, version)
	}
	if a.HelloOk {
		b.Bool("helloOk", true)
	}
	if c.Cmd.Name == "hello" {
		b.Bool("isWritablePrimary", primary)
	} else {
		b.Bool("ismaster", primary)
	}
	replication.AppendTopologyVersion(c, version)
	if err := replication.AppendMember(c, primary); err != nil {
		return err
	}
	b.Int32("maxBsonObjectSize", kernel.MaxDocumentBytes).Int32("maxMessageSizeBytes", kernel.MaxMessageBytes).
		Int32("maxWriteBatchSize", kernel.MaxWriteBatch).Date("localTime", c.Now).
		Int32("logicalSessionTimeoutMinutes", int32(session.Timeout/time.Minute)).
		Int32("connectionId", int32(c.Conn.ID)).Int32("minWireVersion", 0).
		Int32("maxWireVersion", c.Svc.Options.Dialect.WireVersion())
	if !c.Svc.InCluster() {
		b.Bool("readOnly", false)
	}
	if text := c.Svc.Params.Value("automationServiceDescriptor"); text.Str() != "" {
		b.Append("automationServiceDescriptor", text)
	}
	negotiate(c, a.Compression)
	if err := helloBalanced(c, bool(a.LoadBalanced)); err != nil {
		return err
	}
	return users.HelloAuth(c, &a)
}

// helloCodes are the codes of the errors about topologyVersion: mongod's and a mongos's.
var helloCodes = [2]struct {
	exhaust, half, negative, ahead mongoerr.Code
	name                           string
}{
	{exhaust: 51756, half: 31368, negative: 31372, ahead: 31382, name: "server"},
	{exhaust: 51763, half: 51760, negative: 51758, ahead: 51761, name: "mongos"},
}

// awaitTopology waits as an awaitable hello asks for.
func awaitTopology(c *kernel.Call, a *users.HelloArgs) error {
	codes := &helloCodes[0]
	if c.Svc.InCluster() {
		codes = &helloCodes[1]
	}
	switch {
	case a.TopologyVersion == nil && a.MaxAwaitTimeMS == nil && c.Exhaust:
		return mongoerr.New(codes.exhaust, "An isMaster or hello request with exhaust must specify 'maxAwaitTimeMS'")
	case a.TopologyVersion == nil && a.MaxAwaitTimeMS == nil:
		return nil
	case a.MaxAwaitTimeMS == nil:
		return mongoerr.New(codes.half, "A request with a 'topologyVersion' must include 'maxAwaitTimeMS'")
	case a.TopologyVersion == nil:
		return mongoerr.New(codes.half, "A request with 'maxAwaitTimeMS' must include a 'topologyVersion'")
	}
	same := a.TopologyVersion.Lookup("processId").ObjectID() == c.Svc.ProcessID
	counter, version := a.TopologyVersion.Lookup("counter").Int64(), c.Svc.Leader.Changed.Count()
	switch {
	case counter < 0:
		return mongoerr.New(codes.negative, "topologyVersion must have a non-negative counter")
	case same && counter > version:
		return mongoerr.Newf(codes.ahead, "Received a topology version with counter: %d which is greater than the %s topology version counter: %d", counter, codes.name, version)
	}
	if same && counter == version {
		timer := c.Svc.Real.NewTimer(time.Duration(*a.MaxAwaitTimeMS) * time.Millisecond)
		defer timer.Stop()
		select {
		case <-timer.C():
		case <-c.Svc.Leader.Changed.After(version):
		case <-c.Ctx.Done():
			return c.Interrupted()
		}
		c.Now = c.Svc.Clock.NowMillis()
	}
	return nil
}

// nextHello returns the next request of an exhaust hello: the same, with the version that
// the client gets now.
func nextHello(c *kernel.Call, version int64) value.Doc {
	b := value.NewBuilder()
	for name, v := range c.Body.All() {
		if name == "topologyVersion" {
			v = value.Document(replication.TopologyVersion(c, version))
		}
		b.Append(name, v)
	}
	return b.Doc()
}

// tellTopology adds the topologyVersion to a reply whose error or write concern error says
// that the member is not the primary. A driver that knows this version already needs no
// further hello.
func tellTopology(c *kernel.Call, codes ...mongoerr.Code) {
	notPrimary := func(code mongoerr.Code) bool { return code.In(mongoerr.CategoryNotPrimaryError) }
	if c.Svc.InReplicaSet() && slices.ContainsFunc(codes, notPrimary) {
		replication.AppendTopologyVersion(c, c.Svc.Leader.Changed.Count())
	}
}

// supportedCompressors are what the wire package speaks.
var supportedCompressors = map[string]bool{"snappy": true, "zlib": true, "zstd": true}

// negotiate answers the compressors both sides know, in the client's order.
func negotiate(c *kernel.Call, offered args.Array) {
	var known []string
	for v := range value.Doc(offered).Values() {
		if supportedCompressors[v.Str()] && (c.Svc.Options.Compressors == nil || slices.Contains(c.Svc.Options.Compressors, v.Str())) {
			known = append(known, v.Str())
		}
	}
	if known == nil {
		return
	}
	c.Reply.StartArray("compression")
	for _, name := range known {
		c.Reply.String("", name)
	}
	c.Reply.End()
}

func runPing(c *kernel.Call) error {
	c.LeavesNothing()
	return nil
}
