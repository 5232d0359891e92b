package observe

import (
	"math"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// A LogComponent is a part of the server with its own log verbosity.
type LogComponent int

// The components that log more at a higher verbosity, with the level and what they log:
const (
	LogAccess      LogComponent = iota + 1 // 1: commands that were not allowed
	LogCommand                             // 1: every command that ended, 2: that begins
	LogNetwork                             // 1: connections that come and go
	LogQuery                               // 2: the plan of a query
	LogTransaction                         // 1: every transaction that ended
	LogWrite                               // 1: every write that ended
)

// logComponents are all components. One that is part of another follows it as
// "outer.inner". The names and their order are mongod's. The verbosity of those without a
// LogComponent can be set, but has no effect.
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

// ComponentNames are the components with a LogComponent: the name, and the value of the
// field "c" in the log.
var ComponentNames = [...]struct{ name, Short string }{
	LogAccess: {"accessControl", "ACCESS"}, LogCommand: {"command", "COMMAND"}, LogNetwork: {"network", "NETWORK"},
	LogQuery: {"query", "QUERY"}, LogTransaction: {"transaction", "TXN"}, LogWrite: {"write", "WRITE"},
}

// Verbosity has the log level of each component. Lines of level 0 are always logged; levels
// 1 to 5 log more.
type Verbosity struct {
	mu      sync.Mutex
	levels  map[string]int32                  // the levels that were set; "" is the default, and missing components inherit
	Levels  [len(ComponentNames)]atomic.Int32 // the resulting level of each component
	Highest atomic.Int32                      // the highest of Levels, usually 0
}

// NewVerbosity returns a Verbosity in which every component has level 0.
func NewVerbosity() *Verbosity { return &Verbosity{levels: map[string]int32{}} }

// Set changes components; a negative level inherits again.
func (v *Verbosity) Set(levels map[string]int32) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for name, level := range levels {
		if level < 0 {
			delete(v.levels, name)
		} else {
			v.levels[name] = level
		}
	}
	highest := int32(0)
	for i := LogAccess; int(i) < len(ComponentNames); i++ {
		level := v.inherited(ComponentNames[i].name)
		v.Levels[i].Store(level)
		highest = max(highest, level)
	}
	v.Highest.Store(highest)
}

// inherited is the level of a component, or of the nearest one around it
// that has one.
func (v *Verbosity) inherited(name string) int32 {
	for {
		if level, ok := v.levels[name]; ok || name == "" {
			return level
		}
		name = name[:max(strings.LastIndexByte(name, '.'), 0)]
	}
}

// Document is the levels as getParameter shows them.
func (v *Verbosity) Document() value.Doc {
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

// ParseVerbosity reads {verbosity: n, component: n | {…}}.
func ParseVerbosity(d value.Doc, outer string, levels map[string]int32) error {
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
			if err := ParseVerbosity(v.Doc(), inner, levels); err != nil {
				return err
			}
		default:
			return mongoerr.Newf(mongoerr.BadValue, "Invalid type %sfor component %s.%s", v.Kind(), shown, name)
		}
	}
	return nil
}

func verbosityLevel(component, name string, v value.Value) (int32, error) {
	reason := ""
	switch f := v.AsDouble(); {
	case !v.IsNumber():
		reason = "Unable to coerce value to integral type"
	case math.IsNaN(f) || math.IsInf(f, 0):
		reason = "Unable to coerce NaN/Inf to integral type"
	case v.SafeInt64() > math.MaxInt32 || v.SafeInt64() < math.MinInt32:
		reason = "Out of bounds coercing to integral value"
	}
	n := v.SafeInt64()
	switch {
	case reason != "":
		return 0, mongoerr.Newf(mongoerr.BadValue, "Expected %s.%s to be safely cast to integer, but could not: %s", component, name, reason)
	case n < -1:
		return 0, mongoerr.Newf(mongoerr.BadValue, "Expected %s.%s to be greater than or equal to -1, but found %s", component, name, v)
	}
	return int32(n), nil //nolint:gosec // checked above
}

func isLogComponent(name string) bool {
	for _, n := range logComponents {
		if n == name {
			return true
		}
	}
	return false
}

// CheckVerbosity reads the parameter logComponentVerbosity.
func CheckVerbosity(v value.Value) (value.Value, error) {
	if v.Kind() != value.KindDocument {
		return v, mongoerr.Newf(mongoerr.TypeMismatch, "log component verbosity is not a BSON object: %s", v)
	}
	return v, ParseVerbosity(v.Doc(), "", map[string]int32{})
}

// WithAllLevels returns the logger without its lower bound on levels, since the verbosity
// of the components decides what is logged. A logger that was set to log less than usual
// stays as it is.
func WithAllLevels(l zerolog.Logger) zerolog.Logger {
	if l.GetLevel() <= zerolog.InfoLevel {
		return l.Level(zerolog.TraceLevel)
	}
	return l
}
