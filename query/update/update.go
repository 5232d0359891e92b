package update

import (
	"strings"

	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// Transform runs a compiled pipeline on one document.
type Transform func(env *expr.Env, d value.Doc) (value.Doc, error)

// PipelineFunc compiles the stages of a pipeline update. The variables of a
// command's let are its own business. It exists because pipelines know
// updates, and not the other way round.
type PipelineFunc func(stages value.Doc) (Transform, error)

// Options are what an update may depend on when it is compiled. The zero
// value is ready for operators and replacements.
type Options struct {
	ArrayFilters []value.Doc        // the filters for $[id], in the order given
	Collation    value.Collator     // nil: simple binary comparison
	Multi        bool               // replacements are refused
	Constants    bool               // the statement has constants ("c"): only pipelines may
	Pipeline     PipelineFunc       // nil: pipelines are refused
	Timestamp    func() value.Value // gives unique timestamps; nil: the time of the Env
	KeepEmpty    bool               // a replacement may store Timestamp(0, 0)
	Dialect      dialect.Dialect    // version whose errors the update has
}

// ApplyOptions are what one application depends on besides the document.
type ApplyOptions struct {
	Position int    // array position that the query matched, -1 if none
	Insert   bool   // the document is created by an upsert
	Buf      []byte // memory for the new document, which is appended to Buf[:0]; may be nil
}

// Update is a compiled update. It is immutable and may be shared.
type Update struct {
	opts       Options
	root       *object // operators
	renames    []*rename
	paths      []string
	positional bool // a path has the component "$"
	grow       int  // bytes that new values take

	replacement value.Doc
	hasID       bool  // the replacement names _id
	invalid     error // the error of an invalid replacement, returned by Apply
	unsafeTop   error // an error that Apply returns, except for upserts

	transform Transform
}

// Compile compiles an update: a document whose first name begins with "$"
// (operators), any other document (a replacement), or an array (a pipeline).
func Compile(u value.Value, o Options) (*Update, error) {
	switch u.Kind() {
	case value.KindArray:
		return compilePipeline(u.Doc(), o)
	case value.KindDocument:
		if o.Constants {
			return nil, mongoerr.New(51198, "Constant values may only be specified for pipeline updates")
		}
		if first, _ := u.Doc().First(); strings.HasPrefix(first, "$") {
			return compileOperators(u.Doc(), o)
		}
		return compileReplacement(u.Doc(), o)
	}
	return nil, mongoerr.New(mongoerr.FailedToParse, "Update argument must be either an object or an array")
}

// IsReplacement reports whether the update replaces the whole document.
func (u *Update) IsReplacement() bool { return u.replacement != nil }

// IsPipeline reports whether the update is a pipeline.
func (u *Update) IsPipeline() bool { return u.transform != nil }

// NeedsPosition reports whether the positional operator is used, so that
// ApplyOptions.Position matters.
func (u *Update) NeedsPosition() bool { return u.positional }

// Renames reports whether $rename moves a field of the root, or a part of it,
// from or to another place.
func (u *Update) Renames(field string) bool {
	for _, r := range u.renames {
		if r.from[0] == field || r.text == field || strings.HasPrefix(r.text, field+".") {
			return true
		}
	}
	return false
}

// TouchedPaths lists the paths that operators may change, as the client wrote
// them ("a.$[].b"); nil means that anything may change.
func (u *Update) TouchedPaths() []string { return u.paths }

// Apply updates one document. It returns the new document and whether
// anything was changed; if not, the document is d itself. The new document
// shares no memory with d.
func (u *Update) Apply(env *expr.Env, d value.Doc, o ApplyOptions) (value.Doc, bool, error) {
	if u.root == nil {
		return u.replace(env, d, o)
	}
	out, modified, err := u.modify(env, d, o)
	if err != nil || !modified || o.Insert {
		return out, modified, err
	}
	return out, true, checkSize(out)
}

// timestamp returns a unique timestamp, for $currentDate and for empty ones in
// replacements.
func (u *Update) timestamp(env *expr.Env) value.Value {
	if u.opts.Timestamp != nil {
		return u.opts.Timestamp()
	}
	if env.ClusterTime.Kind() == value.KindTimestamp {
		return env.ClusterTime
	}
	return value.Timestamp(uint32(env.Now/1000), 1)
}
