package wire

import (
	"errors"

	"github.com/duskdb/duskdb/value"
)

// Validate looks inside every document of the message. Run it once before
// anything else does; an error is an *[Error] that the peer gets an answer to.
func (m *Msg) Validate() error {
	if err := validate(m.Body); err != nil {
		return err
	}
	for _, s := range m.Sequences {
		if err := s.Validate(); err != nil {
			return err
		}
	}
	return nil
}

// Validate looks inside every document of the sequence.
func (s Sequence) Validate() error {
	for d := range s.Docs() {
		if err := validate(d); err != nil {
			return err
		}
	}
	return nil
}

// Validate looks inside the query document, and the projection if there is
// one.
func (q *Query) Validate() error {
	if err := validate(q.Doc); err != nil || q.Fields == nil {
		return err
	}
	return validate(q.Fields)
}

func validate(d value.Doc) error {
	err := value.Validate(d)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, value.ErrDepth):
		return reject(CodeOverflow, "%s", err)
	}
	return reject(CodeInvalidBSON, "%s", err)
}
