package server

import (
	"io"
	"strconv"
	"strings"

	"github.com/duskdb/duskdb/commands"
)

// The text format of Prometheus is written by hand: it needs a few lines, and
// the Prometheus library would add a fifth to the size of the binary and to
// the start-up time. The metrics stand in tables, from which docs/metrics.md is made too.

// family is one metric.
type family struct {
	name   string
	kind   string   // gauge, counter or histogram
	labels []string // their names
	help   string
	write  func(x *exposition, m *commands.Metrics)
}

// gauge is a metric without labels that may fall.
func gauge[N int | int64](name, help string, value func(m *commands.Metrics) N) family {
	return single("duskdb_"+name, "gauge", help, func(m *commands.Metrics) float64 { return float64(value(m)) })
}

// counter is a metric without labels that only grows.
func counter(name, help string, value func(m *commands.Metrics) int64) family {
	return single("duskdb_"+name+"_total", "counter", help, func(m *commands.Metrics) float64 { return float64(value(m)) })
}

// single is a metric without labels.
func single(name, kind, help string, value func(m *commands.Metrics) float64) family {
	return family{name, kind, nil, help, func(x *exposition, m *commands.Metrics) { x.sample(value(m)) }}
}

// kinds is a counter with the label kind.
func kinds(name, help string, list func(m *commands.Metrics) []commands.Counter) family {
	return family{"duskdb_" + name + "_total", "counter", []string{"kind"}, help, func(x *exposition, m *commands.Metrics) {
		for _, c := range list(m) {
			x.sample(float64(c.Value), c.Name)
		}
	}}
}

// exposition is the text under way.
type exposition struct {
	b []byte
	f *family // metric that is being written
	s *Server
}

// writeMetrics writes metrics in the text format of Prometheus.
func (s *Server) writeMetrics(w io.Writer, list []family, m *commands.Metrics) error {
	x := exposition{b: make([]byte, 0, 64<<10), s: s}
	for i := range list {
		x.family(&list[i], m)
	}
	_, err := w.Write(x.b)
	return err
}

// family writes one metric. A metric without a sample is left out.
func (x *exposition) family(f *family, m *commands.Metrics) {
	start := len(x.b)
	x.f = f
	for _, line := range [2][2]string{{"# HELP ", f.help}, {"# TYPE ", f.kind}} {
		x.b = append(append(append(append(append(x.b, line[0]...), f.name...), ' '), line[1]...), '\n')
	}
	head := len(x.b)
	if f.write(x, m); len(x.b) == head {
		x.b = x.b[:start]
	}
}

// sample writes a sample with the values of the labels.
func (x *exposition) sample(v float64, labels ...string) { x.line("", "", v, labels) }

// line writes a sample. suffix and le are those of histograms.
func (x *exposition) line(suffix, le string, v float64, labels []string) {
	x.b = append(append(x.b, x.f.name...), suffix...)
	open := byte('{')
	for i, value := range labels {
		x.b = append(append(append(x.b, open), x.f.labels[i]...), `="`...)
		x.b = append(appendEscaped(x.b, value), '"')
		open = ','
	}
	if le != "" {
		x.b = append(append(append(append(x.b, open), `le="`...), le...), '"')
		open = ','
	}
	if open == ',' {
		x.b = append(x.b, '}')
	}
	x.b = append(strconv.AppendFloat(append(x.b, ' '), v, 'g', -1, 64), '\n')
}

// appendEscaped writes the value of a label. It is valid UTF-8, in which \, " and the
// newline are escaped.
func appendEscaped(b []byte, s string) []byte {
	s = strings.ToValidUTF8(s, "\uFFFD")
	for i := range len(s) {
		switch c := s[i]; c {
		case '\\', '"':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, `\n`...)
		default:
			b = append(b, c)
		}
	}
	return b
}

// histogram converts counts per bucket to cumulative counts. The last bucket has no bound.
func (x *exposition) histogram(counts []int64, bound func(i int) float64, sum float64, labels ...string) {
	total := int64(0)
	for i, n := range counts {
		total += n
		le := "+Inf"
		if i < len(counts)-1 {
			le = strconv.FormatFloat(bound(i), 'g', -1, 64)
		}
		x.line("_bucket", le, float64(total), labels)
	}
	x.line("_sum", "", sum, labels)
	x.line("_count", "", float64(total), labels)
}
