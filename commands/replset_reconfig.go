package commands

import (
	"math/rand/v2"
	"strings"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// runReplSetReconfig gives the set a new configuration.
func runReplSetReconfig(c *Call) error {
	a, err := c.replSetArgs()
	if err != nil {
		return err
	}
	if a.Reconfig.Kind() != value.KindDocument {
		return mongoerr.New(mongoerr.CommandFailed, "no configuration specified")
	}
	l, force := &c.svc.leader, bool(a.Force)
	l.mu.Lock()
	defer l.mu.Unlock()
	if !force && l.aside.Load() {
		return mongoerr.New(mongoerr.NotWritablePrimary, "New config is rejected :: caused by :: replSetReconfig should only be run on a writable PRIMARY. Current state SECONDARY;")
	}
	old := c.shownConfig()
	config, err := parseSetConfig(a.Reconfig.Doc(), old.settings.id)
	switch {
	case err != nil:
		return invalidConfig(err)
	case config.name != old.name:
		return mongoerr.Newf(mongoerr.InvalidReplicaSetConfig, "Attempting to reconfigure a replica set with name %s, but command line reports %s; rejecting", config.name, old.name)
	}
	if config.term = l.term.Load(); force {
		// Nobody knows which configurations there are elsewhere when a majority
		// is lost; the leap makes it likely that this one is newer than all.
		config.term, config.version = noTerm, config.version+10_000+rand.Int64N(100_000)
	}
	if err := c.checkReconfig(config, old, force); err != nil {
		return err
	}
	config.asConnected = l.config.Load().asConnected && config.member().host == old.member().host
	note := value.NewDoc("msg", value.String("Reconfig set"), "version", value.Int64(config.version))
	return c.install(config, note)
}

// checkReconfig checks whether a configuration may take the place of another.
func (c *Call) checkReconfig(config, old *setConfig, force bool) error {
	err := config.validate()
	if err == nil {
		err = config.follows(old, force)
	}
	if err != nil {
		return mongoerr.New(mongoerr.NewReplicaSetConfigurationIncompatible, mongoerr.From(err).Message)
	}
	self, err := c.findSelf(config)
	if err != nil {
		return err
	}
	if m := &config.members[self]; !force && m.priority == 0 {
		return mongoerr.Newf(mongoerr.NodeNotElectable, "This node, %s, with _id %d is not electable under the new configuration with %s for replica set %s", m.host, m.id, config.at(), config.name)
	}
	if len(config.members) == 1 {
		return nil
	}
	voters, responded := 0, "none responded"
	for i, m := range config.members {
		voters += int(m.votes)
		if i == self && m.votes > 0 {
			responded = "only the following 1 voting nodes responded: " + m.host
		}
	}
	return mongoerr.Newf(mongoerr.NodeNotFound, "Quorum check failed because not enough voting nodes responded; required %d but %s; the following nodes did not respond affirmatively: %s",
		voters/2+1, responded, config.others(self))
}

// others names the members besides the server, with why they are none.
func (s *setConfig) others(self int) string {
	var list []string
	for i, m := range s.members {
		if i != self {
			list = append(list, m.host+" failed with this server is the only member that its set can have")
		}
	}
	return strings.Join(list, ", ")
}

func invalidConfig(err error) error {
	return mongoerr.New(mongoerr.InvalidReplicaSetConfig, mongoerr.From(err).Message)
}

// runReplSetInitiate takes the first configuration that somebody gives the set,
// which it has been from its start. The same once more changes nothing, so
// that scripts that initiate a set run as they are, once or often; another is
// for replSetReconfig.
func runReplSetInitiate(c *Call) error {
	a, err := c.replSetArgs()
	if err != nil {
		return err
	}
	l := &c.svc.leader
	l.mu.Lock()
	defer l.mu.Unlock()
	given, old := a.Initiate.Doc(), c.shownConfig()
	if given.IsEmpty() {
		c.reply.String("info2", "no configuration specified. Using a default configuration for the set").String("me", c.memberHost())
		return nil
	}
	if !given.Has("version") {
		b := value.NewBuilder()
		it := given.Iter()
		b.Raw(it.Rest()).Int32("version", 1)
		given = b.Doc()
	}
	config, err := c.initialConfig(given, old)
	if err != nil {
		return err
	}
	if old.initiated {
		if config.sameAs(old, c.memberHost()) {
			return nil
		}
		return mongoerr.New(mongoerr.AlreadyInitialized, "already initialized").WithExtra("info", value.String("try querying local.system.replset to see current configuration"))
	}
	config.asConnected = config.member().host == c.memberHost()
	return c.install(config, value.NewDoc("msg", value.String("Reconfig set"), "version", value.Int64(config.version)))
}

// initialConfig reads and checks the configuration of replSetInitiate.
func (c *Call) initialConfig(given value.Doc, old *setConfig) (*setConfig, error) {
	config, err := parseSetConfig(given, old.settings.id)
	if err != nil {
		return nil, invalidConfig(err)
	}
	if config.name != old.name {
		return nil, mongoerr.Newf(mongoerr.InvalidReplicaSetConfig, "Rejecting initiate with a set name that differs from command line set name, initiate set name: %s, command line set name: %s", config.name, old.name)
	}
	if config.settings.id != old.settings.id {
		return nil, mongoerr.Newf(mongoerr.InvalidReplicaSetConfig, "replica set configuration cannot contain 'replicaSetId' field when called from replSetInitiate: %s", given)
	}
	config.term = firstTerm
	self, err := -1, config.validate()
	if err == nil && config.version != 1 {
		err = mongoerr.Newf(mongoerr.InvalidReplicaSetConfig, "Configuration used to initiate a replica set must  have version 1, but found %d", config.version)
	}
	if err == nil {
		self, err = c.findSelf(config)
	}
	if err != nil {
		return nil, invalidConfig(err)
	}
	if m := &config.members[self]; m.priority == 0 {
		return nil, mongoerr.Newf(mongoerr.InvalidReplicaSetConfig, "This node, %s, with _id %d is not electable under the new configuration with %s for replica set %s", m.host, m.id, config.at(), config.name)
	}
	if len(config.members) > 1 {
		return nil, mongoerr.Newf(mongoerr.NodeNotFound, "replSetInitiate quorum check failed because not all proposed set members responded affirmatively: %s", config.others(self))
	}
	config.term = c.svc.leader.term.Load()
	return config, nil
}

// install makes a configuration that of the set, and tells clients. The caller
// holds the lock.
func (c *Call) install(config *setConfig, note value.Doc) error {
	config.initiated = true
	if err := c.svc.keepConfig(config, c.svc.oplog.noop(note)); err != nil {
		return failedWrite(err)
	}
	c.svc.leader.config.Store(config)
	c.svc.leader.changed.signal()
	c.generic.durable, c.attempted = true, true // what clients have been told must not be forgotten
	return nil
}

// shownConfig is the configuration as the client sees it: with the host that
// it is told.
func (c *Call) shownConfig() *setConfig {
	config := *c.svc.leader.config.Load()
	m := *config.member()
	m.host = c.memberHost()
	config.members, config.asConnected = []setMember{m}, false
	return &config
}

// sameAs reports whether two configurations differ in nothing but what changes
// by itself.
func (s *setConfig) sameAs(other *setConfig, host string) bool {
	text := func(s setConfig) string {
		s.version, s.term = 1, noTerm
		b := value.NewBuilder()
		s.append(b, host)
		return b.Doc().String()
	}
	return text(*s) == text(*other)
}
