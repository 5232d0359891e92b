package gate

import (
	"strconv"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// CheckBare refuses any field of a command that has no arguments but its name.
func CheckBare(c *kernel.Call) error {
	it := c.Body.Iter()
	for it.Next(); it.Next(); {
		if !args.IsGeneric(it.Key()) {
			return mongoerr.UnknownField(c.Cmd.Name + "." + it.Key())
		}
	}
	return nil
}

// List returns the documents of an argument from its sequence, or from the
// array that the command has.
func List(c *kernel.Call, name string, inBody args.Array) (l args.DocList, err error) {
	for i := range c.Sequences {
		if s := &c.Sequences[i]; s.ID == name {
			return args.DocList{Sequence: s.Docs, N: s.Len}, nil
		}
	}
	if inBody == nil {
		return l, mongoerr.MissingField(c.Cmd.Name + "." + name)
	}
	l.Array = value.Doc(inBody).Iter()
	it := l.Array
	for ; it.Next(); l.N++ {
		if it.Kind() != value.KindDocument {
			return l, args.WrongType(c.Cmd.Name, name+"."+strconv.Itoa(l.N), it.Value(), "object")
		}
	}
	return l, nil
}

// Batch is List for the statements of a write, whose number is limited.
func Batch(c *kernel.Call, name string, inBody args.Array) (args.DocList, error) {
	l, err := List(c, name, inBody)
	if err == nil && (l.N < 1 || l.N > kernel.MaxWriteBatch) {
		err = mongoerr.Newf(mongoerr.InvalidLength, "Write batch sizes must be between 1 and %d. Got %d operations.", kernel.MaxWriteBatch, l.N)
	}
	return l, err
}
