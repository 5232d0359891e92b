package agg

import (
	"github.com/duskdb/duskdb/query/agg/group"
	"github.com/duskdb/duskdb/query/agg/pipeline"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/query/agg/window"
	"github.com/duskdb/duskdb/value"
)

// Aliases of the names that users of this package need from the packages below it, so
// that they import only this one.
type (
	// Pipeline is a compiled pipeline.
	Pipeline = pipeline.Pipeline
	// Leading is the first part of a pipeline, which a source can execute itself.
	Leading = pipeline.Leading
	// Verbosity is the verbosity of an explain.
	Verbosity = pipeline.Verbosity

	// Options says where and how a pipeline is to run.
	Options = stage.Options
	// Exec is one run of a pipeline.
	Exec = stage.Exec
	// Limits are the memory limits of single stages.
	Limits = stage.Limits
	// Iterator returns documents one after the other.
	Iterator = stage.Iterator

	// Prepared is a planned request.
	Prepared = stage.Prepared
	// Namespace is what a Host has under a name: a collection or a view.
	Namespace = stage.Namespace
	// Request is a request to a Host for the documents of a collection.
	Request = stage.Request
	// Source is an opened collection.
	Source = stage.Source
	// Near is a request for documents in order of distance.
	Near = stage.Near
	// Special names a source that is not a collection.
	Special = stage.Special
	// Pack is a group of documents that are stored together.
	Pack = stage.Pack
	// OutTarget is the collection that $out writes.
	OutTarget = stage.OutTarget
	// OutWriter writes the collection of an $out stage.
	OutWriter = stage.OutWriter
	// MergeTarget is the collection that $merge writes.
	MergeTarget = stage.MergeTarget
	// MergeWriter writes the results of a $merge stage.
	MergeWriter = stage.MergeWriter
)

// The verbosities of explain.
const (
	QueryPlanner   = pipeline.QueryPlanner
	ExecutionStats = pipeline.ExecutionStats
)

// MissingMetadata returns the name of metadata that documents need, but do not have.
var MissingMetadata = stage.MissingMetadata

// Docs iterates over the given documents.
func Docs(docs ...value.Doc) Iterator { return stage.Docs(docs...) }

// RunsScripts reports whether an expression or a pipeline contains an operator that
// runs JavaScript.
func RunsScripts(v value.Value) bool { return stage.RunsScripts(v) }

// AccumulatorNames lists the accumulators of $group, sorted, without those that
// only the server uses.
func AccumulatorNames() []string { return group.Accumulators() }

// WindowNames lists the supported operators of $setWindowFields, sorted.
func WindowNames() []string { return window.Operators() }
