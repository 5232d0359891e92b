package script

import (
	_ "embed"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duskdb/duskdb/clock"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/script/engine"
)

//go:embed prelude.js
var prelude string

const (
	// DefaultHeapLimitMB is the default memory limit of a scope.
	DefaultHeapLimitMB = 100
	// maxHeapMB is the upper bound of that limit.
	maxHeapMB = 1024
	// DefaultTimeout is the default time limit of one function call, in
	// milliseconds.
	DefaultTimeout = 60_000
	// compileTimeout is the time limit for parsing a function.
	compileTimeout = 5 * time.Second
	// totalBytes is the memory limit of all scopes together.
	totalBytes = 512 << 20
	// maxFunctions is the size of the cache of functions.
	maxFunctions = 512
	// maxSource is the size of all their sources together, in bytes.
	maxSource = 8 << 20
)

// Engine runs the JavaScript of one server. It is safe for concurrent use.
type Engine struct {
	clock   clock.Clock // the clock of Date
	real    clock.Clock // the clock of time limits and of sleep
	version string
	log     func(text string)
	pool    *engine.Pool
	budget  engine.Budget

	// HeapLimitMB, MaxHeapMB and TimeoutMS are the parameters
	// internalQueryJavaScriptHeapSizeLimitMB, jsHeapLimitMB and
	// internalQueryJavaScriptFnTimeoutMillis.
	HeapLimitMB, MaxHeapMB, TimeoutMS atomic.Int64

	disabled atomic.Bool

	mu        sync.Mutex
	functions map[string]*Function
	source    int // size of their sources
}

// Config configures an engine.
type Config struct {
	Clock   clock.Clock       // the clock that scripts see
	Real    clock.Clock       // the clock of time limits
	Version string            // the result of version()
	Log     func(text string) // the output of print; nil: none
}

// New returns an engine. It allocates almost nothing before the first script.
func New(c Config) *Engine {
	e := &Engine{clock: c.Clock, real: c.Real, version: c.Version, log: c.Log, functions: map[string]*Function{}}
	e.budget.Limit = totalBytes
	e.HeapLimitMB.Store(DefaultHeapLimitMB)
	e.MaxHeapMB.Store(maxHeapMB)
	e.TimeoutMS.Store(DefaultTimeout)
	e.pool = engine.NewPool(prelude, &e.budget, c.Real)
	return e
}

// Disable makes the engine refuse all scripts, for --noscripting.
func (e *Engine) Disable() { e.disabled.Store(true) }

// Enabled reports whether there is an engine that runs scripts; nil has none.
func (e *Engine) Enabled() bool { return e != nil && !e.disabled.Load() }

// Name is the name of the engine in buildInfo: mongod's, because the behaviour
// is the same.
func (e *Engine) Name() string {
	if !e.Enabled() {
		return "none"
	}
	return "mozjs"
}

// ErrDisabled is the error of $function and similar operators without an
// engine.
var ErrDisabled = mongoerr.New(31264, "Cannot run server-side javascript without the javascript engine enabled")

// Compile checks the source of a function, and does not run any of it. Parsed functions
// are cached. interrupt returns an error when the operation has to end; nil: never.
func (e *Engine) Compile(source string, interrupt func() error) (*Function, error) {
	if !e.Enabled() {
		return nil, ErrDisabled
	}
	e.mu.Lock()
	f := e.functions[source]
	e.mu.Unlock()
	if f != nil {
		return f, nil
	}
	op := e.Operation(Setup{Interrupt: interrupt})
	op.compiling = true
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
	if len(source) > maxSource || e.functions[source] != nil {
		return
	}
	if len(e.functions) >= maxFunctions || e.source+len(source) > maxSource {
		clear(e.functions)
		e.source = 0
	}
	e.functions[source] = f
	e.source += len(source)
}

// heapLimit returns the memory limit of a scope in bytes.
func (e *Engine) heapLimit() int64 {
	return min(e.HeapLimitMB.Load(), e.MaxHeapMB.Load(), maxHeapMB) << 20
}

func (e *Engine) timeout() time.Duration {
	return time.Duration(e.TimeoutMS.Load()) * time.Millisecond
}
