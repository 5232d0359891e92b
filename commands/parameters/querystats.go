package parameters

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/limits"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// queryStatsParameters say which queries $queryStats shows: none by default.
func queryStatsParameters() []parameter {
	size := text("internalQueryStatsCacheSize", always, "1%").
		onChange(func(s *kernel.Service, v value.Value) {
			bytes, _ := memorySize(v.Str())
			s.QueryStats.SetLimit(min(bytes, maxStatsBytes))
		})
	size.Check = checkMemorySize(size.Check)
	return []parameter{
		size,
		integer("internalQueryStatsRateLimit", always, 0, gte(-1)).
			onChange(func(s *kernel.Service, v value.Value) { s.QueryStats.SetPerSecond(v.SafeInt64()) }),
		double("internalQueryStatsSampleRate", always, 0, gte(0), lte(1)).
			onChange(func(s *kernel.Service, v value.Value) { s.QueryStats.SetShare(v.AsDouble()) }),
	}
}

// maxStatsBytes is the maximum that the statistics may take, whatever is set.
const maxStatsBytes = 1 << 30

var memorySizes = regexp.MustCompile(`^\s*(\d+\.?\d*)\s*([a-zA-Z%]+)\s*$`)

// memorySize reads a size like 100MB, 1GB or 5%, which is of the memory of the machine.
func memorySize(text string) (bytes int64, ok bool) {
	m := memorySizes.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseFloat(m[1], 64)
	units := map[string]float64{"MB": 1 << 20, "GB": 1 << 30, "%": float64(limits.MemoryBytes()) / 100}
	unit, known := units[strings.ToUpper(m[2])]
	if err != nil || !known || n*unit > 1<<62 {
		return 0, false
	}
	return int64(n * unit), true
}

// checkMemorySize adds to the check of a text that it is a size.
func checkMemorySize(text func(value.Value) (value.Value, error)) func(value.Value) (value.Value, error) {
	return func(v value.Value) (value.Value, error) {
		v, err := text(v)
		if err == nil {
			if _, ok := memorySize(v.Str()); !ok {
				err = mongoerr.Newf(6007010, "Unable to parse memory size string: %s", v.Str())
			}
		}
		return v, err
	}
}
