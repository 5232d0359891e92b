package commands

import (
	"slices"
	"time"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

func handshakeCommands() []command {
	return []command{
		{name: "hello", run: runHello, flags: preAuth | handshake | waits, help: "describe the server and keep the handshake"},
		{name: "isMaster", aliases: []string{"ismaster"}, run: runHello, flags: preAuth | handshake | waits, help: "hello, as older clients say it"},
		{name: "ping", run: runPing, flags: preAuth | noSession | bare, help: "answer, to show that the server lives"},
	}
}

type helloArgs struct {
	Hello           value.Value `arg:"hello"`
	IsMaster        value.Value `arg:"isMaster"`
	Ismaster        value.Value `arg:"ismaster"`
	HelloOk         looseBool   `arg:"helloOk"`
	Client          value.Doc   `arg:"client"`
	Compression     array       `arg:"compression"`
	SASLMechs       value.Value `arg:"saslSupportedMechs"`
	Speculative     value.Doc   `arg:"speculativeAuthenticate"`
	TopologyVersion value.Doc   `arg:"topologyVersion"`
	MaxAwaitTimeMS  *int64      `arg:"maxAwaitTimeMS,nonneg"`
}

var helloSpec = newArgs[helloArgs]("hello").lenient()

// runHello answers hello and isMaster. With topologyVersion and
// maxAwaitTimeMS it is awaitable: the reply comes when the topology changes,
// as when the member steps down, or when the time is over.
func runHello(c *Call) error {
	var a helloArgs
	if err := helloSpec.decode(c.Body, &a); err != nil {
		return err
	}
	if err := c.conn.introduce(a.Client); err != nil {
		return err
	}
	if err := c.awaitTopology(&a); err != nil {
		return err
	}
	// What is said may be newer than its version, which the next reply mends,
	// but never older.
	version := c.svc.leader.changed.count()
	b, primary := c.reply, !c.svc.leader.aside.Load()
	if c.exhaust && a.TopologyVersion != nil {
		c.response.Next = c.nextHello(version)
	}
	b.Bool("helloOk", true)
	if c.cmd.name == "hello" {
		b.Bool("isWritablePrimary", primary)
	} else {
		b.Bool("ismaster", primary)
	}
	c.appendTopologyVersion(version)
	c.appendMember(primary)
	b.Int32("maxBsonObjectSize", MaxDocumentBytes).Int32("maxMessageSizeBytes", MaxMessageBytes).
		Int32("maxWriteBatchSize", MaxWriteBatch).Date("localTime", c.now).
		Int32("logicalSessionTimeoutMinutes", int32(sessionTimeout/time.Minute)).
		Int32("connectionId", int32(c.conn.ID)).Int32("minWireVersion", 0).
		Int32("maxWireVersion", MaxWireVersion).Bool("readOnly", false)
	c.negotiate(a.Compression)
	return c.helloAuth(&a)
}

// awaitTopology waits as an awaitable hello asks for.
func (c *Call) awaitTopology(a *helloArgs) error {
	if (a.TopologyVersion == nil) != (a.MaxAwaitTimeMS == nil) {
		if a.MaxAwaitTimeMS == nil {
			return mongoerr.New(31368, "A request with a 'topologyVersion' must include 'maxAwaitTimeMS'")
		}
		return mongoerr.New(31368, "A request with 'maxAwaitTimeMS' must include a 'topologyVersion'")
	}
	if a.TopologyVersion == nil {
		return nil
	}
	same := a.TopologyVersion.Lookup("processId").ObjectID() == c.svc.processID
	counter, version := a.TopologyVersion.Lookup("counter").Int64(), c.svc.leader.changed.count()
	if same && counter > version {
		return mongoerr.New(31382, "Received a topology version with counter greater than the server topology version counter")
	}
	if same && counter == version {
		timer := c.svc.real.NewTimer(time.Duration(*a.MaxAwaitTimeMS) * time.Millisecond)
		defer timer.Stop()
		select {
		case <-timer.C():
		case <-c.svc.leader.changed.after(version):
		case <-c.ctx.Done():
			return c.interrupted()
		}
		c.now = c.svc.clock.NowMillis()
	}
	return nil
}

// nextHello is the hello that an exhaust reply answers next: the same, from
// the version on that the client is told now.
func (c *Call) nextHello(version int64) value.Doc {
	b := value.NewBuilder()
	for name, v := range c.Body.All() {
		if name == "topologyVersion" {
			v = value.Document(c.topologyVersion(version))
		}
		b.Append(name, v)
	}
	return b.Doc()
}

func (c *Call) topologyVersion(version int64) value.Doc {
	return value.NewDoc("processId", value.ObjectID(c.svc.processID), "counter", value.Int64(version))
}

func (c *Call) appendTopologyVersion(version int64) {
	c.reply.Document("topologyVersion", c.topologyVersion(version))
}

// tellTopology adds the topologyVersion to a reply that says, by the code of
// its error or of its write concern's, that the member is not the primary. A
// driver that knows this topology already goes on without another hello.
func (c *Call) tellTopology(codes ...mongoerr.Code) {
	notPrimary := func(code mongoerr.Code) bool { return code.In(mongoerr.CategoryNotPrimaryError) }
	if c.svc.inReplicaSet() && slices.ContainsFunc(codes, notPrimary) {
		c.appendTopologyVersion(c.svc.leader.changed.count())
	}
}

// supportedCompressors are what the wire package speaks.
var supportedCompressors = map[string]bool{"snappy": true, "zlib": true, "zstd": true}

// negotiate answers the compressors both sides know, in the client's order.
func (c *Call) negotiate(offered array) {
	var known []string
	for v := range value.Doc(offered).Values() {
		if supportedCompressors[v.Str()] && (c.svc.options.Compressors == nil || slices.Contains(c.svc.options.Compressors, v.Str())) {
			known = append(known, v.Str())
		}
	}
	if known == nil {
		return
	}
	c.conn.compression = known
	c.reply.StartArray("compression")
	for _, name := range known {
		c.reply.String("", name)
	}
	c.reply.End()
}

func runPing(c *Call) error {
	c.leavesNothing()
	return nil
}
