package script

import (
	"errors"
	"regexp"
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/script/engine"
)

// failure converts a failure of a script to MongoDB's error.
func (o *Operation) failure(err error) error {
	var t *engine.Thrown
	switch {
	case err == nil:
		return nil
	case errors.As(err, &t):
		return thrown(t)
	case errors.Is(err, engine.ErrMemory):
		return mongoerr.New(mongoerr.JSInterpreterFailure, "Out of memory")
	case errors.Is(err, engine.ErrBroken):
		return mongoerr.Newf(mongoerr.JSInterpreterFailure, "Out of stack or memory: %w", err)
	}
	return err
}

// thrown is an exception that no script has caught.
func thrown(t *engine.Thrown) error {
	if t.Code != 0 {
		return mongoerr.New(mongoerr.Code(t.Code), t.Message)
	}
	if !t.IsError {
		return mongoerr.New(mongoerr.JSInterpreterFailure, "uncaught exception: "+t.Text)
	}
	if t.Stack == "" {
		return mongoerr.New(mongoerr.JSInterpreterFailure, t.Text)
	}
	return mongoerr.New(mongoerr.JSInterpreterFailure, t.Text+" :\n"+stack(t.Stack))
}

var frame = regexp.MustCompile(`^at (?:(.*) )?\(?([^()]*?)(:\d+:\d+)\)?$`)

// stack writes the engine's stack as mongod's is written: name@file:line:column.
func stack(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		m := frame.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		if m[1] == "<anonymous>" || m[1] == "<eval>" {
			m[1] = ""
		}
		b.WriteString(m[1] + "@" + m[3] + "\n")
	}
	return b.String()
}
