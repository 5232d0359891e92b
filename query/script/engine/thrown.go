package engine

import "github.com/duskdb/duskdb/value"

// thrown is the exception that a call has reported as a document.
func thrown(b []byte) error {
	if value.Validate(b) != nil {
		return ErrBroken
	}
	d := value.Doc(b)
	t := &Thrown{
		Code: int(d.Lookup("code").Int32()), Text: d.Lookup("text").Str(), Message: d.Lookup("message").Str(),
		IsError: d.Lookup("error").Bool(), Stack: d.Lookup("stack").Str(),
	}
	if t.IsError && t.Message == "out of memory" {
		return ErrMemory
	}
	return t
}
