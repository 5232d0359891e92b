package commands

import (
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// A LogComponent is a part of the server whose log can be made to say more.
type LogComponent int

// The components that have more to say, and what:
const (
	LogAccess      LogComponent = iota + 1 // 1: commands that were not allowed
	LogCommand                             // 1: every command that ended, 2: that begins
	LogNetwork                             // 1: connections that come and go
	LogQuery                               // 2: the plan of a query
	LogTransaction                         // 1: every transaction that ended
	LogWrite                               // 1: every write that ended
)

// logComponents are all components, with those that are part of another
// behind it as "outer.inner". The names and their order are mongod's; the
// ones without a LogComponent can be set and have nothing more to say.
var logComponents = strings.Fields(`
	accessControl assert command control executor geo globalIndex index
	network network.asio network.bridge network.connectionPool
	processHealth query
	replication replication.election replication.heartbeats replication.initialSync replication.rollback
	sharding sharding.rangeDeleter sharding.shardingCatalogRefresh sharding.migration sharding.reshard sharding.migrationPerf
	storage storage.recovery storage.journal storage.wt storage.wt.wtBackup storage.wt.wtCheckpoint
	storage.wt.wtCompact storage.wt.wtEviction storage.wt.wtHS storage.wt.wtRecovery storage.wt.wtRTS storage.wt.wtSalvage
	storage.wt.wtTiered storage.wt.wtTimestamp storage.wt.wtTransaction storage.wt.wtVerify storage.wt.wtWriteLog
	write ftdc tracking transaction tenantMigration test resourceConsumption`)

// talking are the components that the server asks about: name, and what
// stands in the log's field "c".
var talking = [...]struct{ name, short string }{
	LogAccess: {"accessControl", "ACCESS"}, LogCommand: {"command", "COMMAND"}, LogNetwork: {"network", "NETWORK"},
	LogQuery: {"query", "QUERY"}, LogTransaction: {"transaction", "TXN"}, LogWrite: {"write", "WRITE"},
}

// verbosity is how much each component says. Level 0 is what is always
// logged, 1 to 5 is more.
type verbosity struct {
	mu     sync.Mutex
	levels map[string]int32           // as set; "" is the default, and the missing inherit
	of     [len(talking)]atomic.Int32 // what that comes to
	most   atomic.Int32               // of all that talk: 0 is the common case
}

func newVerbosity() *verbosity { return &verbosity{levels: map[string]int32{}} }

// set changes components; a negative level inherits again.
func (v *verbosity) set(levels map[string]int32) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for name, level := range levels {
		if level < 0 {
			delete(v.levels, name)
		} else {
			v.levels[name] = level
		}
	}
	most := int32(0)
	for i := LogAccess; int(i) < len(talking); i++ {
		level := v.inherited(talking[i].name)
		v.of[i].Store(level)
		most = max(most, level)
	}
	v.most.Store(most)
}

// inherited is the level of a component, or of the nearest one around it
// that has one.
func (v *verbosity) inherited(name string) int32 {
	for {
		if level, ok := v.levels[name]; ok || name == "" {
			return level
		}
		name = name[:max(strings.LastIndexByte(name, '.'), 0)]
	}
}

// document is the levels as getParameter shows them.
func (v *verbosity) document() value.Doc {
	v.mu.Lock()
	defer v.mu.Unlock()
	b := value.NewBuilder()
	b.Int32("verbosity", v.levels[""])
	var open []string
	for _, name := range logComponents {
		path := strings.Split(name, ".")
		for len(open) >= len(path) {
			b.End()
			open = open[:len(open)-1]
		}
		b.StartDocument(path[len(path)-1])
		open = path
		level, ok := v.levels[name]
		if !ok {
			level = -1
		}
		b.Int32("verbosity", level)
	}
	for range open {
		b.End()
	}
	return b.Doc()
}

// Verbose begins a line of the log that is written if the component says so
// much; otherwise the event is nil, and nothing that is done with it costs
// anything.
func (s *Service) Verbose(c LogComponent, level int32) *zerolog.Event {
	if s.verbosity.most.Load() < level || s.verbosity.of[c].Load() < level {
		return nil
	}
	return s.log.Debug().Str("c", talking[c].short).Int32("verbosity", level)
}

// parseVerbosity reads {verbosity: n, component: n | {…}}.
func parseVerbosity(d value.Doc, outer string, levels map[string]int32) error {
	shown := outer
	if shown == "" {
		shown = "default"
	}
	for name, v := range d.All() {
		if name == "verbosity" {
			level, err := verbosityLevel(shown, name, v)
			if err != nil {
				return err
			}
			levels[outer] = level
			continue
		}
		inner := strings.TrimPrefix(outer+"."+name, ".")
		if !isLogComponent(inner) {
			return mongoerr.Newf(mongoerr.BadValue, "Invalid component name %s.%s", shown, name)
		}
		switch {
		case v.IsNumber():
			level, err := verbosityLevel(shown, name, v)
			if err != nil {
				return err
			}
			levels[inner] = level
		case v.Kind() == value.KindDocument:
			if err := parseVerbosity(v.Doc(), inner, levels); err != nil {
				return err
			}
		default:
			return mongoerr.Newf(mongoerr.BadValue, "Invalid type %sfor component %s.%s", v.Kind(), shown, name)
		}
	}
	return nil
}

func verbosityLevel(component, name string, v value.Value) (int32, error) {
	if !v.IsNumber() || v.IsNaN() {
		return 0, mongoerr.Newf(mongoerr.BadValue, "Expected %s.%s to be safely cast to integer, but could not: Expected a number, but found %s", component, name, v.Kind())
	}
	if n := v.SafeInt64(); n < -1 {
		return 0, mongoerr.Newf(mongoerr.BadValue, "Expected %s.%s to be greater than or equal to -1, but found %s", component, name, v)
	}
	return int32(min(v.SafeInt64(), 1<<30)), nil
}

func isLogComponent(name string) bool {
	for _, n := range logComponents {
		if n == name {
			return true
		}
	}
	return false
}

// checkVerbosity reads the parameter logComponentVerbosity.
func checkVerbosity(v value.Value) (value.Value, error) {
	if v.Kind() != value.KindDocument {
		return v, mongoerr.Newf(mongoerr.TypeMismatch, "log component verbosity is not a BSON object: %s", v)
	}
	return v, parseVerbosity(v.Doc(), "", map[string]int32{})
}

// logParameters are the two parameters that say how much is logged. They are
// two views of the same levels.
func logParameters() []parameter {
	level := checkInt("logLevel", 0, 5)
	return []parameter{
		{
			name: "logLevel", initial: value.Int32(0), startup: true, runtime: true, check: level,
			onChange: func(s *Service, v value.Value) { s.verbosity.set(map[string]int32{"": v.Int32()}) },
			read: func(s *Service) value.Value {
				level, _ := s.verbosity.document().Get("verbosity")
				return level
			},
		},
		{
			name: "logComponentVerbosity", initial: value.Document(value.EmptyDoc), startup: true, runtime: true, check: checkVerbosity,
			onChange: func(s *Service, v value.Value) {
				levels := map[string]int32{}
				if parseVerbosity(v.Doc(), "", levels) == nil { // checked before
					s.verbosity.set(levels)
				}
			},
			read: func(s *Service) value.Value { return value.Document(s.verbosity.document()) },
		},
	}
}

// talkative is the log without the level below which it drops lines, unless
// it was made to say less than usual: how much is said is for the components
// to decide.
func talkative(l zerolog.Logger) zerolog.Logger {
	if l.GetLevel() <= zerolog.InfoLevel {
		return l.Level(zerolog.TraceLevel)
	}
	return l
}

// tellsOf reports whether the end of a command is to be logged even if it was
// not slow, and logs what else there is to say of it.
func (s *Service) tellsOf(c *Call) bool {
	if s.verbosity.most.Load() == 0 {
		return false
	}
	if summary := c.counts.summary(); summary != "" {
		s.Verbose(LogQuery, 2).Str("ns", operationNamespace(c.op)).Str("planSummary", summary).Msg("Winning plan")
	}
	if endOfTransaction[c.cmd.name] && s.verbosity.of[LogTransaction].Load() > 0 {
		return true
	}
	if c.cmd.flags&writes != 0 && s.verbosity.of[LogWrite].Load() > 0 {
		return true
	}
	return s.verbosity.of[LogCommand].Load() > 0
}
