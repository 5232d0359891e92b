package kernel

import (
	"math"

	"github.com/rs/zerolog"

	"github.com/duskdb/duskdb/commands/observe"
	"github.com/duskdb/duskdb/value"
)

// Verbose begins a line of the log if the verbosity of the component is at least level.
// Otherwise the event is nil, and using it costs nothing.
func (s *Service) Verbose(c observe.LogComponent, level int32) *zerolog.Event {
	if s.Verbosity.Highest.Load() < level || s.Verbosity.Levels[c].Load() < level {
		return nil
	}
	return s.Log.Debug().Str("c", observe.ComponentNames[c].Short).Int32("verbosity", level)
}

// LogParameters are the parameters that say how much is logged. The first two are views of
// the same levels.
func LogParameters() []Parameter {
	level := CheckInt("logLevel", 0, 5)
	return []Parameter{
		{
			Name: "logLevel", Initial: value.Int32(0), Startup: true, Runtime: true, Check: level,
			OnChange: func(s *Service, v value.Value) { s.Verbosity.Set(map[string]int32{"": v.Int32()}) },
			read: func(s *Service) value.Value {
				level, _ := s.Verbosity.Document().Get("verbosity")
				return level
			},
		},
		{
			Name: "logComponentVerbosity", Initial: value.Document(value.EmptyDoc), Startup: true, Runtime: true, Check: observe.CheckVerbosity,
			OnChange: func(s *Service, v value.Value) {
				levels := map[string]int32{}
				if observe.ParseVerbosity(v.Doc(), "", levels) == nil { // checked before
					s.Verbosity.Set(levels)
				}
			},
			read: func(s *Service) value.Value { return value.Document(s.Verbosity.Document()) },
		},
		{
			Name: "maxLogSizeKB", Initial: value.Int32(10), Startup: true, Runtime: true, Check: CheckInt("maxLogSizeKB", 0, math.MaxInt32),
			OnChange: func(s *Service, v value.Value) { s.Options.LogLimit.SetKB(v.SafeInt64()) },
		},
	}
}
