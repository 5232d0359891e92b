package pipeline

import (
	"errors"
	"slices"

	"github.com/duskdb/duskdb/query/agg/flow"
	"github.com/duskdb/duskdb/query/agg/source"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// Pipeline is a compiled pipeline. It is immutable and may be run many times
// and by several goroutines.
type Pipeline struct {
	stages []stage.Stage
	opts   *stage.Options
	writes bool
}

// New makes a pipeline of compiled stages. The caller must not change the options
// afterwards.
func New(stages []stage.Stage, o *stage.Options) *Pipeline { return &Pipeline{stages: stages, opts: o} }

// Stages are the stages after optimisation.
func (p *Pipeline) Stages() []stage.Stage { return p.stages }

// Compile compiles and optimises.
func Compile(p *stage.Parser, pipeline value.Doc) (*Pipeline, error) {
	stages, err := p.CompileStages(pipeline)
	if err != nil {
		return nil, asFoldError(err)
	}
	if !p.NoOptimize {
		if stages, err = Optimize(p, stages); err != nil {
			return nil, err
		}
	}
	if err := p.CheckMetadata(stages); err != nil {
		return nil, err
	}
	out := &Pipeline{stages: stages, opts: &p.Options}
	if len(stages) > 0 {
		_, out.writes = stages[len(stages)-1].(stage.Writer)
	}
	if !p.NoOptimize {
		err = findEvents(p, out)
	}
	return out, err
}

// asFoldError adds mongod's prefix to errors of constant expressions, which mongod
// evaluates in its optimiser.
func asFoldError(err error) error {
	var fold *expr.FoldError
	if errors.As(err, &fold) {
		return fold.Err.WithPrefix("Failed to optimize pipeline")
	}
	return err
}

// Computes reports whether a stage may change documents.
func (p *Pipeline) Computes() bool {
	return slices.ContainsFunc(p.stages, func(s stage.Stage) bool {
		e := s.Effect()
		return e.Opaque || len(e.Modified) > 0
	})
}

// Writes reports whether the pipeline ends in $out or $merge.
func (p *Pipeline) Writes() bool { return p.writes }

// Target is the namespace that $out or $merge writes.
func (p *Pipeline) Target() (db, coll string, ok bool) {
	if !p.writes {
		return "", "", false
	}
	db, coll = p.stages[len(p.stages)-1].(stage.Writer).WritesTo()
	return db, coll, true
}

// MergeTarget is what $merge writes to.
func (p *Pipeline) MergeTarget() (t stage.MergeTarget, ok bool) {
	if !p.writes {
		return t, false
	}
	if s, ok := p.stages[len(p.stages)-1].(stage.Merger); ok {
		return s.MergesInto(), true
	}
	return t, false
}

// IsSource reports whether the first stage makes the documents itself, so that the
// pipeline reads no collection.
func (p *Pipeline) IsSource() bool { return len(p.stages) > 0 && IsSource(p.stages[0]) }

// IsSource reports whether a stage makes documents itself.
func IsSource(s stage.Stage) bool {
	switch s.(type) {
	case *source.Special, *source.Documents:
		return true
	}
	return false
}

// IsChangeStream reports whether the pipeline begins with $changeStream.
func (p *Pipeline) IsChangeStream() bool {
	s, ok := p.first().(*source.Special)
	return ok && s.Source.Stage == "$changeStream"
}

// SplitsEvents reports whether the pipeline ends in
// $changeStreamSplitLargeEvent.
func (p *Pipeline) SplitsEvents() bool {
	_, ok := p.stages[len(p.stages)-1].(*source.SplitEvents)
	return ok
}

func (p *Pipeline) first() stage.Stage {
	if len(p.stages) == 0 {
		return nil
	}
	return p.stages[0]
}

// Len is the number of stages after optimisation.
func (p *Pipeline) Len() int { return len(p.stages) }

// Namespaces lists the other collections that the pipeline reads or writes,
// as "db.coll".
func (p *Pipeline) Namespaces() []string {
	var out []string
	for _, s := range p.stages {
		if in, ok := s.(stage.Involves); ok {
			for _, ns := range in.Involved() {
				if !slices.Contains(out, ns) {
					out = append(out, ns)
				}
			}
		}
	}
	return out
}

// before returns the pipeline of a view followed by p.
func (p *Pipeline) before(view stage.Namespace) (*Pipeline, error) {
	vp := &stage.Parser{Options: *p.opts}
	vp.Scope = p.opts.Scope.Root()
	if view.Coll == "" { // its documents come from its first stage
		vp.Coll = ""
	}
	stages, err := vp.CompileStages(view.Pipeline)
	if err != nil {
		return nil, err
	}
	if err := p.checkBehind(stages); err != nil {
		return nil, err
	}
	joined := append(slices.Clip(stages), p.stages...)
	if !p.opts.NoOptimize {
		vp.Scope = p.opts.Scope
		if joined, err = Optimize(vp, joined); err != nil {
			return nil, err
		}
	}
	return &Pipeline{stages: joined, opts: p.opts, writes: p.writes}, nil
}

// checkBehind returns an error if p cannot follow the stages of a view because its first
// stage must be the first of a pipeline.
func (p *Pipeline) checkBehind(view []stage.Stage) error {
	if len(view) == 0 || len(p.stages) == 0 {
		return nil
	}
	s := p.stages[0]
	if m, ok := s.(*flow.Match); ok && m.Text {
		return flow.TextNotFirst()
	}
	if def := p.opts.Language.Stage(s.Name()); def != nil && def.Flags&stage.MustBeFirst != 0 {
		return stage.NotFirst(s.Name())
	}
	return nil
}
