package replset

import (
	"sync/atomic"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// Stored returns the document that keeps the configuration. host is the host of the member
// if AsConnected is set.
func (s *Config) Stored(host string) value.Doc {
	b := value.NewBuilder()
	s.Append(b, host)
	b.StartDocument(ownField).Bool("asConnected", s.AsConnected).Bool("initiated", s.Initiated).End()
	return b.Doc()
}

// readStored reads what Stored has written. id is the replicaSetId of a document without
// one.
func readStored(d value.Doc, id value.OID) (*Config, error) {
	b, own := value.NewBuilder(), value.Doc(nil)
	it := d.Iter()
	for it.Next() {
		if it.Key() == ownField {
			own = it.Value().Doc()
			continue
		}
		b.Raw(it.Element())
	}
	config, err := ParseConfig(b.Doc(), id)
	if err == nil {
		err = config.Validate()
	}
	if err != nil {
		return nil, err
	}
	config.AsConnected, config.Initiated = own.Lookup("asConnected").Truthy(), own.Lookup("initiated").Truthy()
	return config, nil
}

// ConfigCache reads the configuration of a set again and again. It remembers the last one that
// could be used. It is safe for concurrent use.
type ConfigCache struct {
	name string
	last atomic.Pointer[Config]
}

// NewConfigCache returns a ConfigCache of the set with this name. first counts until another
// configuration has been read.
func NewConfigCache(first *Config, name string) *ConfigCache {
	k := &ConfigCache{name: name}
	k.last.Store(first)
	return k
}

// Read returns the configuration in the last of the documents. If that cannot be used, it
// returns the last one that could be, and says why. A document of a set with another name
// cannot be used, but is no error: the server was a member of that set before.
func (k *ConfigCache) Read(docs []value.Doc) (*Config, error) {
	last := k.last.Load()
	if len(docs) == 0 {
		return last, nil
	}
	config, err := readStored(docs[len(docs)-1], last.Settings.ID)
	switch {
	case err != nil:
		return last, err
	case config.Name != k.name:
		return last, nil
	case len(config.Members) != 1:
		return last, mongoerr.Newf(mongoerr.InvalidReplicaSetConfig, "the set can have one member only, not %d", len(config.Members))
	}
	k.last.Store(config)
	return config, nil
}
