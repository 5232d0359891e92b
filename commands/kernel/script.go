package kernel

import (
	"errors"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/script"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// newScripts makes the engine for JavaScript.
func newScripts(s *Service) *script.Engine {
	e := script.New(script.Config{
		Clock: s.Clock, Real: s.Real, Version: s.Options.Dialect.Version(),
		Log: func(text string) { s.Log.Info().Str("text", text).Msg("JavaScript output") },
	})
	if s.Options.NoScripting {
		e.Disable()
	}
	return e
}

// scripts are the scopes of a command's JavaScript. They end with the command: a getMore
// begins anew.
type scripts struct {
	where, expressions *script.Operation
	Globals            value.Doc // the global variables of mapReduce
	Stored             bool      // expressions find the stored functions too, as in mapReduce
}

// Script is the scope for $where, or that for expressions.
func (c *Call) Script(where bool) *script.Operation {
	s := &c.Scripts
	if where {
		if s.where == nil {
			s.where = c.newScript(true)
		}
		return s.where
	}
	if s.expressions == nil {
		s.expressions = c.newScript(s.Stored)
	}
	return s.expressions
}

func (c *Call) newScript(stored bool) *script.Operation {
	setup := script.Setup{Interrupt: c.Interrupted, Done: func() <-chan struct{} { return c.Ctx.Done() }, Globals: c.Scripts.Globals}
	if stored {
		setup.Stored = c.storedFunctions
	}
	return c.Svc.Scripts.Operation(setup)
}

// CloseScripts ends the scopes when the command is over.
func (c *Call) CloseScripts() {
	c.Scripts.where.Close()
	c.Scripts.expressions.Close()
	c.Scripts = scripts{}
}

// storedFunctions reads system.js of the command's database.
func (c *Call) storedFunctions() (all []script.Stored, err error) {
	err = c.View(func(tx storage.Tx) error {
		coll, err := tx.Collection(storage.Namespace{DB: c.DB, Coll: "system.js"})
		if err != nil {
			if errors.Is(err, storage.ErrNotFound) {
				err = nil
			}
			return err
		}
		var bad error
		err = c.Visible(coll).Scan(storage.Range{}, func(r storage.Record) bool {
			var f script.Stored
			if f, bad = storedFunction(r.Doc); bad == nil {
				all = append(all, f)
			}
			return bad == nil
		})
		return errors.Join(err, bad)
	})
	return all, err
}

func storedFunction(d value.Doc) (f script.Stored, err error) {
	name, v := d.Lookup("_id"), d.Lookup("value")
	switch {
	case name.Kind() != value.KindString:
		return f, mongoerr.Newf(10209, "name has to be a string: _id: %s", name)
	case v.IsMissing():
		return f, mongoerr.New(10210, "value has to be set")
	}
	return script.Stored{Name: name.Clone().Str(), Value: v.Clone()}, nil
}
