package catalog

import (
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/ttl"
	"github.com/duskdb/duskdb/value"
)

// Options is a document of options being changed; the order of the fields
// is kept.
type Options struct {
	names   []string
	values  map[string]value.Value
	Changed bool // Set has been called
}

// NewOptions returns the options in d, to be changed.
func NewOptions(d value.Doc) *Options {
	o := &Options{values: map[string]value.Value{}}
	for name, v := range d.All() {
		o.names = append(o.names, name)
		o.values[name] = v
	}
	return o
}

// Set puts or, given Missing, removes an option.
func (o *Options) Set(name string, v value.Value) {
	if _, known := o.values[name]; !known {
		o.names = append(o.names, name)
	}
	o.values[name], o.Changed = v, true
}

// SetDefault puts an option that is not there yet.
func (o *Options) SetDefault(name string, v value.Value) {
	if _, known := o.values[name]; !known {
		o.Set(name, v)
	}
}

// Doc returns the options as a document, without those that were removed.
func (o *Options) Doc() value.Doc {
	var b value.Builder
	b.Reset(nil)
	for _, name := range o.names {
		b.Append(name, o.values[name])
	}
	return b.Doc()
}

// PolicyEnding returns the options of a collection whose document TTL ends at an
// instant, in milliseconds since the epoch; 0 for one that does not end. by is the server
// that ends it, "" without other servers.
func PolicyEnding(info *storage.Info, p *ttl.DocumentPolicy, until int64, by string) value.Doc {
	o := NewOptions(info.Options)
	o.Set("documentTtl", value.Document(p.Doc()))
	if until != 0 {
		o.Set("documentTtl", value.Document(p.EndingDoc(until, by)))
	}
	return o.Doc()
}

// LastingOptions returns the options of a collection as clients see them: without the
// internal note that its document TTL is about to end.
func LastingOptions(info *storage.Info) value.Doc {
	if p := Of(info).DocTTL; p != nil && p.Until != 0 {
		return PolicyEnding(info, p, 0, "")
	}
	return info.Options
}
