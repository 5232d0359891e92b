package replication

import (
	"math/rand/v2"
	"strings"

	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/replset"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// runReplSetReconfig gives the set a new configuration.
func runReplSetReconfig(c *kernel.Call) error {
	a, err := readReplSetArgs(c)
	if err != nil {
		return err
	}
	if a.Reconfig.Kind() != value.KindDocument {
		return mongoerr.New(mongoerr.CommandFailed, "no configuration specified")
	}
	l, force := &c.Svc.Leader, bool(a.Force)
	l.Mu.Lock()
	defer l.Mu.Unlock()
	if !force && l.SteppedDown.Load() {
		return mongoerr.New(mongoerr.NotWritablePrimary, "New config is rejected :: caused by :: replSetReconfig should only be run on a writable PRIMARY. Current state SECONDARY;")
	}
	present, err := c.SetConfig()
	if err != nil {
		return err
	}
	old := shownConfig(c, present)
	config, err := replset.ParseConfig(a.Reconfig.Doc(), old.Settings.ID)
	switch {
	case err != nil:
		return invalidConfig(err)
	case config.Name != old.Name:
		return mongoerr.Newf(mongoerr.InvalidReplicaSetConfig, "Attempting to reconfigure a replica set with name %s, but command line reports %s; rejecting", config.Name, old.Name)
	}
	if config.Term = l.Term.Load(); force {
		// A forced change may not know the newest configuration. The large step makes
		// it likely that this version is greater than all others, as in mongod.
		config.Term, config.Version = replset.NoTerm, config.Version+10_000+rand.Int64N(100_000)
	}
	if err := checkReconfig(c, config, present, force); err != nil {
		return err
	}
	config.AsConnected = present.AsConnected && config.Member().Host == old.Member().Host
	note := value.NewDoc("msg", value.String("Reconfig set"), "version", value.Int64(config.Version))
	return install(c, config, note)
}

// checkReconfig checks whether a configuration may replace the present one.
func checkReconfig(c *kernel.Call, config, present *replset.Config, force bool) error {
	err := config.Validate()
	if err == nil {
		err = config.Follows(shownConfig(c, present), force)
	}
	if err != nil {
		return mongoerr.New(mongoerr.NewReplicaSetConfigurationIncompatible, mongoerr.From(err).Message)
	}
	self, err := findSelf(c, config, present)
	if err != nil {
		return err
	}
	if m := &config.Members[self]; !force && m.Priority == 0 {
		return mongoerr.Newf(mongoerr.NodeNotElectable, "This node, %s, with _id %d is not electable under the new configuration with %s for replica set %s", m.Host, m.ID, config.VersionAndTerm(), config.Name)
	}
	if len(config.Members) == 1 {
		return nil
	}
	voters, responded := 0, "none responded"
	for i, m := range config.Members {
		voters += int(m.Votes)
		if i == self && m.Votes > 0 {
			responded = "only the following 1 voting nodes responded: " + m.Host
		}
	}
	return mongoerr.Newf(mongoerr.NodeNotFound, "Quorum check failed because not enough voting nodes responded; required %d but %s; the following nodes did not respond affirmatively: %s",
		voters/2+1, responded, others(config, self))
}

// others returns the members that are not this server, with the reason, for the error
// message.
func others(s *replset.Config, self int) string {
	var list []string
	for i, m := range s.Members {
		if i != self {
			list = append(list, m.Host+" failed with this server is the only member that its set can have")
		}
	}
	return strings.Join(list, ", ")
}

func invalidConfig(err error) error {
	return mongoerr.New(mongoerr.InvalidReplicaSetConfig, mongoerr.From(err).Message)
}

// runReplSetInitiate sets the first configuration of the set. The server is a member of its
// set from the start, so that the command is optional. The same configuration again changes
// nothing, so that scripts may run the command repeatedly; a different one needs
// replSetReconfig.
func runReplSetInitiate(c *kernel.Call) error {
	a, err := readReplSetArgs(c)
	if err != nil {
		return err
	}
	l := &c.Svc.Leader
	l.Mu.Lock()
	defer l.Mu.Unlock()
	present, err := c.SetConfig()
	if err != nil {
		return err
	}
	given, host := a.Initiate.Doc(), memberHost(c, present)
	if given.IsEmpty() {
		c.Reply.String("info2", "no configuration specified. Using a default configuration for the set").String("me", host)
		return nil
	}
	if !given.Has("version") {
		b := value.NewBuilder()
		it := given.Iter()
		b.Raw(it.Rest()).Int32("version", 1)
		given = b.Doc()
	}
	config, err := initialConfig(c, given, present)
	if err != nil {
		return err
	}
	if present.Initiated {
		if sameAs(config, shownConfig(c, present), host) {
			return nil
		}
		return mongoerr.New(mongoerr.AlreadyInitialized, "already initialized").WithExtra("info", value.String("try querying local.system.replset to see current configuration"))
	}
	config.AsConnected = config.Member().Host == host
	return install(c, config, value.NewDoc("msg", value.String("Reconfig set"), "version", value.Int64(config.Version)))
}

// initialConfig reads and checks the configuration of replSetInitiate.
func initialConfig(c *kernel.Call, given value.Doc, present *replset.Config) (*replset.Config, error) {
	config, err := replset.ParseConfig(given, present.Settings.ID)
	if err != nil {
		return nil, invalidConfig(err)
	}
	if config.Name != present.Name {
		return nil, mongoerr.Newf(mongoerr.InvalidReplicaSetConfig, "Rejecting initiate with a set name that differs from command line set name, initiate set name: %s, command line set name: %s", config.Name, present.Name)
	}
	if config.Settings.ID != present.Settings.ID {
		return nil, mongoerr.Newf(mongoerr.InvalidReplicaSetConfig, "replica set configuration cannot contain 'replicaSetId' field when called from replSetInitiate: %s", given)
	}
	config.Term = replset.FirstTerm
	self, err := -1, config.Validate()
	if err == nil && config.Version != 1 {
		err = mongoerr.Newf(mongoerr.InvalidReplicaSetConfig, "Configuration used to initiate a replica set must  have version 1, but found %d", config.Version)
	}
	if err == nil {
		self, err = findSelf(c, config, present)
	}
	if err != nil {
		return nil, invalidConfig(err)
	}
	if m := &config.Members[self]; m.Priority == 0 {
		return nil, mongoerr.Newf(mongoerr.InvalidReplicaSetConfig, "This node, %s, with _id %d is not electable under the new configuration with %s for replica set %s", m.Host, m.ID, config.VersionAndTerm(), config.Name)
	}
	if len(config.Members) > 1 {
		return nil, mongoerr.Newf(mongoerr.NodeNotFound, "replSetInitiate quorum check failed because not all proposed set members responded affirmatively: %s", others(config, self))
	}
	config.Term = c.Svc.Leader.Term.Load()
	return config, nil
}

// install puts a configuration into force, and informs waiting clients. The caller
// holds the lock.
func install(c *kernel.Call, config *replset.Config, note value.Doc) error {
	config.Initiated = true
	if _, err := keepConfig(c.Svc, config, note); err != nil {
		return kernel.FailedWrite(err)
	}
	c.Svc.Leader.Changed.Signal()
	c.Generic.Durable, c.Attempted = true, true // a configuration that clients have seen must be on disk
	return nil
}

// shownConfig returns the present configuration with the host that hello reports to this
// client.
func shownConfig(c *kernel.Call, present *replset.Config) *replset.Config {
	config := *present
	m := *config.Member()
	m.Host = memberHost(c, present)
	config.Members, config.AsConnected = []replset.Member{m}, false
	return &config
}

// sameAs reports whether two configurations are equal, apart from the fields that the server
// changes itself.
func sameAs(s *replset.Config, other *replset.Config, host string) bool {
	text := func(s replset.Config) string {
		s.Version, s.Term = 1, replset.NoTerm
		b := value.NewBuilder()
		s.Append(b, host)
		return b.Doc().String()
	}
	return text(*s) == text(*other)
}
