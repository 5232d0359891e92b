package commands

import "sync/atomic"

// streamOptions are the cluster parameter changeStreamOptions.
type streamOptions struct {
	expireAfter atomic.Int64 // seconds that pre-images are kept; 0: as long as the log
}
