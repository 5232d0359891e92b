package main

import (
	"errors"
	"fmt"
	"io"
)

// compareCommand measures two servers in turn.
type compareCommand struct {
	A        string  `name:"a" help:"Server: mongodb://host:port, null, or \"exec:PATH ARGUMENTS\" to start a binary." required:""`
	B        string  `name:"b" aliases:"against" help:"Server to compare with." default:"null"`
	APid     int     `name:"a-pid" help:"Process of server a, if duskbench does not start it, to measure its processor time."`
	BPid     int     `name:"b-pid" help:"Process of server b, likewise."`
	Rounds   int     `help:"Number of rounds; each measures both servers." default:"5"`
	MinRatio float64 `help:"Fail if a ratio of speeds is below this." default:"0"`
	MinCPU   float64 `name:"min-cpu-ratio" help:"Fail if b's processor time per operation, divided by a's, is below this." default:"0"`
	loadOptions
}

// comparison is the result of the rounds of one workload.
type comparison struct {
	Workload    string   `json:"workload"`
	Connections int      `json:"connections"`
	A           []result `json:"a"`
	B           []result `json:"b"`
	OpsA        float64  `json:"medianOpsPerSecA"`
	OpsB        float64  `json:"medianOpsPerSecB"`
	Ratio       float64  `json:"medianRatio"`
	CPURatio    float64  `json:"medianCPURatio,omitempty"` // b's processor time per operation to a's; 0: not known
}

// Run measures, prints a line for each workload and number of connections,
// and fails if a ratio is too low.
func (c *compareCommand) Run(out io.Writer) (err error) {
	a, err := openTarget(c.A, c.APid)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.stop()) }()
	b, err := openTarget(c.B, c.BPid)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.stop()) }()

	fmt.Fprintf(out, "a: %s\nb: %s\nclient: %s; medians of %d rounds of %v; ratio: a's ops/s to b's; b/a: b's processor time per operation to a's\n\n", a.name, b.name, c.Client, c.Rounds, c.Duration)
	all, err := c.compareAll(a, b, out)
	if err == nil && c.JSON != "" {
		err = writeJSON(c.JSON, all)
	}
	if err != nil {
		return err
	}
	return c.judge(all)
}

func (c *compareCommand) compareAll(a, b *target, out io.Writer) (all []comparison, err error) {
	table := newTable(out, compareColumns)
	err = c.each(func(w workload, n int) error {
		x, err := c.compareOne(a, b, w, n)
		if err != nil {
			return err
		}
		all = append(all, x)
		table.row(compareRow(x)...)
		return nil
	})
	return all, err
}

// compareOne measures one workload in rounds. Who goes first changes from
// round to round.
func (c *compareCommand) compareOne(a, b *target, w workload, connections int) (comparison, error) {
	x := comparison{Workload: w.name, Connections: connections}
	sides := []struct {
		t  *target
		to *[]result
	}{{a, &x.A}, {b, &x.B}}
	for round := range c.Rounds {
		for i := range sides {
			side := sides[(i+round)%2]
			// Workloads that only read or update reuse the documents.
			if round == 0 || !w.loads || w.grows {
				if err := prepare(side.t, w, c.loadOptions); err != nil {
					return x, err
				}
			}
			r, err := measure(side.t, w, connections, c.loadOptions)
			if err != nil {
				return x, err
			}
			*side.to = append(*side.to, r)
		}
	}
	x.OpsA, x.OpsB = medianOf(x.A, opsPerSec), medianOf(x.B, opsPerSec)
	x.Ratio, x.CPURatio = medianRatio(x.A, x.B), medianCPURatio(x.A, x.B)
	return x, nil
}

// judge applies --min-ratio and --min-cpu-ratio.
func (c *compareCommand) judge(all []comparison) error {
	var errs []error
	for _, x := range all {
		if x.Ratio < c.MinRatio {
			errs = append(errs, fmt.Errorf("%s at %d connections: ratio %.2f is below %.2f", x.Workload, x.Connections, x.Ratio, c.MinRatio))
		}
		if x.CPURatio < c.MinCPU {
			errs = append(errs, fmt.Errorf("%s at %d connections: ratio of processor times %.2f is below %.2f", x.Workload, x.Connections, x.CPURatio, c.MinCPU))
		}
	}
	return errors.Join(errs...)
}
