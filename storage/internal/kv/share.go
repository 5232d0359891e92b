package kv

import (
	"context"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/share"
)

// UpdateShared implements storage.Sharer.
func (e *Engine) UpdateShared(ctx context.Context, fn func(storage.Tx) error) error {
	return e.shared.Update(ctx, sharing{e}, fn)
}

// sharing is the engine as package share sees it.
type sharing struct{ e *Engine }

var (
	_ share.Engine   = sharing{}
	_ share.Run      = (*Tx)(nil)
	_ share.Finisher = (*Tx)(nil)
)

// Writer holds one token: the right to write.
func (s sharing) Writer() chan struct{} { return s.e.writer }

// BeginGroup begins a transaction for a group of updates, which share a commit.
func (s sharing) BeginGroup(ctx context.Context) (share.Run, error) {
	if ctx == nil {
		ctx = s.e.life
	}
	t, err := s.e.beginWrite(ctx)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Apart reports whether the updates of a group may succeed one by one.
func (s sharing) Apart(err error) bool {
	return s.e.common.Options.RetrySingly != nil && s.e.common.Options.RetrySingly(err)
}
