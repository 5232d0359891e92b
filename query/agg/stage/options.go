package stage

import (
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/value"
)

// Options says where and how a pipeline is to run.
type Options struct {
	DB, Coll      string // namespace; Coll "" stands for {aggregate: 1}
	Scope         *expr.Scope
	Collation     value.Collator
	Text          func(db, coll string) match.TextMatcher // the text index for $text; nil: $text is refused
	TimeSeries    func(db, coll string) bool              // whether a collection is a time series, or has its buckets; nil: none is
	InTransaction bool
	NoStreams     bool            // the server keeps no log of changes: $changeStream is refused
	NoOptimize    bool            // keep the stages as they were written
	Update        bool            // a pipeline of an update command: only stages that change one document
	View          string          // the view that the pipeline defines, "": none
	Metadata      []expr.MetaKind // metadata that the documents of the source have

	Language *Language // set by Compile
}
