package commands

import (
	"errors"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/query/script"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

// newScripts makes the engine for JavaScript.
func (s *Service) newScripts() *script.Engine {
	e := script.New(script.Config{
		Clock: s.clock, Real: s.real, Version: ServerVersion,
		Log: func(text string) { s.log.Info().Str("text", text).Msg("JavaScript prints") },
	})
	if s.options.NoScripting {
		e.Disable()
	}
	return e
}

// scripts are the scopes of a command's JavaScript. They end with it: a
// getMore begins anew.
type scripts struct {
	where, expressions *script.Operation
	globals            value.Doc // of mapReduce
	stored             bool      // expressions find the stored functions too, as in mapReduce
}

// Script is the scope for $where, or that for expressions.
func (c *Call) Script(where bool) *script.Operation {
	s := &c.scripts
	if where {
		if s.where == nil {
			s.where = c.newScript(true)
		}
		return s.where
	}
	if s.expressions == nil {
		s.expressions = c.newScript(s.stored)
	}
	return s.expressions
}

func (c *Call) newScript(stored bool) *script.Operation {
	setup := script.Setup{Interrupt: c.interrupted, Done: func() <-chan struct{} { return c.ctx.Done() }, Globals: c.scripts.globals}
	if stored {
		setup.Stored = c.storedFunctions
	}
	return c.svc.scripts.Operation(setup)
}

// closeScripts ends the scopes when the command is over.
func (c *Call) closeScripts() {
	c.scripts.where.Close()
	c.scripts.expressions.Close()
	c.scripts = scripts{}
}

// Script is the scope of the command at work.
func (x *execution) Script(where bool) *script.Operation { return x.running().Script(where) }

// storedFunctions reads system.js of the command's database.
func (c *Call) storedFunctions() (all []script.Stored, err error) {
	err = c.view(func(tx storage.Tx) error {
		coll, err := tx.Collection(storage.Namespace{DB: c.DB, Coll: "system.js"})
		if err != nil {
			if errors.Is(err, storage.ErrNotFound) {
				err = nil
			}
			return err
		}
		var bad error
		err = c.sight(coll).scan(storage.Range{}, func(r storage.Record) bool {
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
