package kernel

import (
	"math"
	"strings"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// The reading of read and write concerns, as in mongod's IDL: null counts as absent,
// except for w and the times.

var readConcernLevels = map[string]bool{
	"local": true, "available": true, "majority": true, "linearizable": true, "snapshot": true,
}

// concernSources are the values of "provenance".
var concernSources = map[string]bool{
	"clientSupplied": true, "implicitDefault": true, "customDefault": true, "getLastErrorDefaults": true, "internalWriteDefault": true,
}

// ParseReadConcern reads the document readConcern and refuses what mongod refuses in it.
func (g *Generic) ParseReadConcern(v value.Value) error {
	if v.Kind() != value.KindDocument {
		return args.TypeError("readConcern", v, "object")
	}
	g.ReadConcern = v.Doc()
	for key, e := range g.ReadConcern.All() {
		if err := g.readConcernField(key, e); err != nil {
			return err
		}
	}
	return nil
}

func (g *Generic) readConcernField(key string, e value.Value) error {
	null := e.Kind() == value.KindNull || e.Kind() == value.KindUndefined
	switch key {
	case "level":
		switch {
		case null:
			return nil
		case e.Kind() != value.KindString:
			return args.TypeError("readConcern.level", e, "string")
		case !readConcernLevels[e.Str()]:
			return mongoerr.Newf(mongoerr.BadValue, "Enumeration value '%s' for field 'readConcern.level' is not a valid value.", e.Str())
		}
		g.Level = strings.Clone(e.Str())
	case "afterClusterTime", "atClusterTime":
		if e.Kind() != value.KindTimestamp {
			return args.TypeError("readConcern."+key, e, "timestamp")
		}
	case "provenance":
		return checkProvenance("readConcern", e)
	case "allowTransactionTableSnapshot", "waitLastStableRecoveryTimestamp", "$disableOpTimeCheck":
		if !null && e.Kind() != value.KindBool {
			return args.TypeError("readConcern."+key, e, "bool")
		}
	case "afterOpTime":
	default:
		return mongoerr.UnknownField("readConcern." + key)
	}
	return nil
}

func checkProvenance(concern string, v value.Value) error {
	switch {
	case v.Kind() == value.KindNull || v.Kind() == value.KindUndefined:
		return nil
	case v.Kind() != value.KindString:
		return args.TypeError(concern+".provenance", v, "string")
	case !concernSources[v.Str()]:
		return mongoerr.Newf(mongoerr.BadValue, "Enumeration value '%s' for field '%s.provenance' is not a valid value.", v.Str(), concern)
	}
	return nil
}

// HasClientWriteConcern reports whether the client gave a write concern. The default write concern
// of the cluster, which Generic has too, does not count.
func (c *Call) HasClientWriteConcern() bool {
	v := c.Body.Lookup("writeConcern")
	return !v.IsMissing() && v.Kind() != value.KindNull
}

// ParseWriteConcern reads the document writeConcern and refuses what mongod refuses in
// it. Concerns that one member cannot satisfy are not errors here.
func (g *Generic) ParseWriteConcern(v value.Value) error {
	if v.Kind() != value.KindDocument {
		return args.TypeError("writeConcern", v, "object")
	}
	g.WriteConcern = v.Doc()
	for key, e := range g.WriteConcern.All() {
		if err := g.writeConcernField(key, e); err != nil {
			return err
		}
	}
	if g.WriteConcern.Lookup("j").Truthy() && g.WriteConcern.Lookup("fsync").Truthy() {
		return mongoerr.New(mongoerr.FailedToParse, "fsync and j options cannot be used together")
	}
	return nil
}

func (g *Generic) writeConcernField(key string, e value.Value) error {
	switch key {
	case "w":
		return g.readW(e)
	case "j", "fsync":
		switch {
		case e.Kind() == value.KindNull || e.Kind() == value.KindUndefined:
			return nil
		case !e.IsNumber() && e.Kind() != value.KindBool:
			return args.WrongType("writeConcern", key, e, args.BoolTypes)
		}
		g.Durable = g.Durable || e.Truthy()
	case "wtimeout": // of any type; a value that is not a number is ignored
		if e.IsNumber() && e.SafeInt64() > math.MaxInt32 {
			return mongoerr.New(mongoerr.FailedToParse, "wtimeout must be a 32-bit integer")
		}
	case "provenance":
		return checkProvenance("writeConcern", e)
	case "wElectionId", "wOpTime", "getLastError":
	default:
		return mongoerr.UnknownField("writeConcern." + key)
	}
	return nil
}

// readW reads w: the number of members that must acknowledge a write, or a mode. There is
// one member; package concern reports values that it cannot satisfy.
func (g *Generic) readW(v value.Value) error {
	switch k := v.Kind(); {
	case k == value.KindString:
		return g.readMode(v.Str())
	case k == value.KindNull || k == value.KindUndefined:
		return g.readMode("")
	case v.IsNumber():
		if v.IsNaN() {
			return mongoerr.New(mongoerr.FailedToParse, "w cannot be NaN")
		}
		n := v.SafeInt64()
		switch {
		case n < 0 || n > 50:
			return mongoerr.Newf(mongoerr.FailedToParse, "w has to be a non-negative number and not greater than 50; found: %d", n)
		case n == 0:
			g.Unacked = true
		case n > 1:
			g.Members = n
		}
		return nil
	case k == value.KindDocument:
		return g.readTags(v.Doc())
	}
	return mongoerr.Newf(mongoerr.FailedToParse, "w has to be a number, string, or object; found: %s", v.Kind())
}

func (g *Generic) readMode(mode string) error {
	if strings.IndexByte(mode, 0) >= 0 {
		return mongoerr.Newf(mongoerr.FailedToParse, "w has illegal embedded NUL byte, w: %s", mode)
	}
	if mode == "majority" {
		g.Majority = true
		return nil
	}
	g.Mode, g.Named = strings.Clone(mode), true
	return nil
}

func (g *Generic) readTags(d value.Doc) error {
	if d.IsEmpty() {
		return mongoerr.New(mongoerr.FailedToParse, "tagged write concern requires tags")
	}
	for name, v := range d.All() {
		if !v.IsNumber() {
			return mongoerr.Newf(mongoerr.FailedToParse, "tags must be a single level document with only number values; found: %s: %s", name, v)
		}
	}
	g.Tags = true
	return nil
}
