package main

import (
	"fmt"
	"io"
	"slices"
	"time"
)

// startCommand measures how long a server takes to start.
type startCommand struct {
	Binary string   `arg:"" help:"Server binary; it is started with --port and --dbpath." type:"existingfile"`
	Args   []string `arg:"" optional:"" passthrough:"" help:"Further arguments for the server."`
	Rounds int      `help:"Number of starts." default:"20"`
	JSON   string   `name:"json" help:"Write the times to this file as JSON." type:"path" placeholder:"FILE"`
}

// startResult is in milliseconds.
type startResult struct {
	Binary string    `json:"binary"`
	Times  []float64 `json:"times"`
	Median float64   `json:"median"`
	Min    float64   `json:"min"`
	Max    float64   `json:"max"`
}

// Run starts and stops the server and prints the median.
func (c *startCommand) Run(out io.Writer) error {
	r := startResult{Binary: c.Binary}
	for range max(c.Rounds, 1) {
		p, err := startServer(c.Binary, c.Args)
		if err != nil {
			return err
		}
		if err := p.stop(); err != nil {
			return err
		}
		r.Times = append(r.Times, float64(p.took)/float64(time.Millisecond))
	}
	r.Median, r.Min, r.Max = median(r.Times...), slices.Min(r.Times), slices.Max(r.Times)
	fmt.Fprintf(out, "start to first ping, %d rounds: median %.1f ms, min %.1f ms, max %.1f ms\n", len(r.Times), r.Median, r.Min, r.Max)
	if c.JSON == "" {
		return nil
	}
	return writeJSON(c.JSON, r)
}
