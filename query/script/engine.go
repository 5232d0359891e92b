package script

import (
	_ "embed"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/script/engine"
)

//go:embed prelude.js
var prelude string

const (
	// DefaultHeapLimitMB is how large a scope may grow.
	DefaultHeapLimitMB = 100
	// mostHeapMB is what no setting lets a scope exceed.
	mostHeapMB = 1024
	// DefaultTimeout is how many milliseconds one call of a function may take.
	DefaultTimeout = 60_000
	// totalBytes is what all scopes of a server may take.
	totalBytes = 1 << 30
	// mostFunctions is how many functions are remembered.
	mostFunctions = 512
)

// Engine is the JavaScript of one server. It is safe for concurrent use.
type Engine struct {
	clock   clock.Clock // what Date shows
	real    clock.Clock // for limits of time and sleep
	version string
	log     func(text string)
	pool    *engine.Pool
	budget  engine.Budget

	// HeapLimitMB, MostHeapMB and TimeoutMS are the parameters
	// internalQueryJavaScriptHeapSizeLimitMB, jsHeapLimitMB and
	// internalQueryJavaScriptFnTimeoutMillis.
	HeapLimitMB, MostHeapMB, TimeoutMS atomic.Int64

	disabled atomic.Bool

	mu        sync.Mutex
	functions map[string]*Function
}

// Config is what an engine is made with.
type Config struct {
	Clock   clock.Clock       // what scripts take for the time
	Real    clock.Clock       // by which limits count
	Version string            // what version() says
	Log     func(text string) // where print writes; nil: nowhere
}

// New makes an engine. It takes no memory before the first script.
func New(c Config) *Engine {
	e := &Engine{clock: c.Clock, real: c.Real, version: c.Version, log: c.Log, functions: map[string]*Function{}}
	e.budget.Limit = totalBytes
	e.HeapLimitMB.Store(DefaultHeapLimitMB)
	e.MostHeapMB.Store(mostHeapMB)
	e.TimeoutMS.Store(DefaultTimeout)
	e.pool = engine.NewPool(prelude, &e.budget, c.Real)
	return e
}

// Disable has the engine refuse everything, as --noscripting does.
func (e *Engine) Disable() { e.disabled.Store(true) }

// Enabled reports whether there is an engine that runs scripts; nil has none.
func (e *Engine) Enabled() bool { return e != nil && !e.disabled.Load() }

// Name is what buildInfo calls the engine: that of a mongod, whose behaviour
// it follows.
func (e *Engine) Name() string {
	if !e.Enabled() {
		return "none"
	}
	return "mozjs"
}

// ErrDisabled is what $function and the like answer without an engine.
var ErrDisabled = mongoerr.New(31264, "Cannot run server-side javascript without the javascript engine enabled")

// Compile checks the source of a function. Sources that are used again are not
// parsed again.
func (e *Engine) Compile(source string) (*Function, error) {
	if !e.Enabled() {
		return nil, ErrDisabled
	}
	e.mu.Lock()
	f := e.functions[source]
	e.mu.Unlock()
	if f != nil {
		return f, nil
	}
	op := e.Operation(Setup{})
	defer op.Close()
	f, err := op.compile(source)
	if err != nil {
		return nil, err
	}
	e.remember(source, f)
	return f, nil
}

func (e *Engine) remember(source string, f *Function) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.functions) >= mostFunctions {
		clear(e.functions)
	}
	e.functions[source] = f
}

// heapLimit is how many bytes a scope may take.
func (e *Engine) heapLimit() int64 {
	return min(e.HeapLimitMB.Load(), e.MostHeapMB.Load(), mostHeapMB) << 20
}

func (e *Engine) timeout() time.Duration {
	return time.Duration(e.TimeoutMS.Load()) * time.Millisecond
}
