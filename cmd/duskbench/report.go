package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
)

// column is one column of a table; text stands left, figures right.
type column struct {
	title string
	width int
	text  bool
}

var (
	runColumns = []column{
		{"workload", 11, true}, {"conns", 5, false}, {"ops/s", 9, false}, {"docs/s", 10, false},
		{"p50 µs", 8, false}, {"p90 µs", 8, false}, {"p99 µs", 8, false}, {"p99.9 µs", 9, false}, {"max µs", 9, false},
		{"cpu µs", 7, false}, {"own cpu", 7, false},
	}
	compareColumns = []column{
		{"workload", 11, true}, {"conns", 5, false}, {"a ops/s", 9, false}, {"b ops/s", 9, false}, {"ratio", 6, false},
		{"a p50 µs", 9, false}, {"b p50 µs", 9, false}, {"a p99 µs", 9, false}, {"b p99 µs", 9, false},
		{"a cpu µs", 8, false}, {"b cpu µs", 8, false}, {"b/a", 5, false},
	}
)

func runRow(r result) []string {
	return []string{r.Workload, strconv.Itoa(r.Connections), figure(r.OpsPerSec), figure(r.DocsPerSec),
		figure(r.P50), figure(r.P90), figure(r.P99), figure(r.P999), figure(r.Max),
		known(r.ServerCPU, figure), known(r.OwnCPU, figure)}
}

func compareRow(c comparison) []string {
	return []string{c.Workload, strconv.Itoa(c.Connections), figure(c.OpsA), figure(c.OpsB), hundredths(c.Ratio),
		figure(medianOf(c.A, p50)), figure(medianOf(c.B, p50)), figure(medianOf(c.A, p99)), figure(medianOf(c.B, p99)),
		known(medianOf(c.A, serverCPU), figure), known(medianOf(c.B, serverCPU), figure), known(c.CPURatio, hundredths)}
}

// known shows a figure that is 0 if it is not known.
func known(v float64, show func(float64) string) string {
	if v == 0 {
		return "-"
	}
	return show(v)
}

func hundredths(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

// figure rounds to what is worth reading.
func figure(v float64) string {
	if v < 100 {
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// table prints rows as they come, under a heading.
type table struct {
	out     io.Writer
	columns []column
}

func newTable(out io.Writer, columns []column) *table {
	t := &table{out, columns}
	titles := make([]string, len(columns))
	for i, c := range columns {
		titles[i] = c.title
	}
	t.row(titles...)
	return t
}

func (t *table) row(cells ...string) {
	for i, c := range t.columns {
		if i > 0 {
			fmt.Fprint(t.out, "  ")
		}
		if c.text {
			fmt.Fprintf(t.out, "%-*s", c.width, cells[i])
		} else {
			fmt.Fprintf(t.out, "%*s", c.width, cells[i])
		}
	}
	fmt.Fprintln(t.out)
}

// writeJSON writes v to a file.
func writeJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}
