package kvshared

import (
	"hash/maphash"
	"sync/atomic"

	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/storage/internal/kv"
)

// guesses remember to which records the keys of unique indexes have led, as numbers alone.
// They may be wrong: whoever uses one looks whether the record has the key.
type guesses [1 << 16]atomic.Uint64

// guessedBits are those of the id of a record in a guess; above them is a part of the hash of the range.
const guessedBits = 40

func (g *guesses) place(s kv.Span) (at *atomic.Uint64, tag uint64) {
	hash := maphash.Bytes(lookupSeed, s.Lo)
	return &g[hash%uint64(len(g))], hash >> guessedBits << guessedBits
}

// of returns the record that a range of entries has led to, or 0.
func (g *guesses) of(s kv.Span) storage.RecordID {
	at, tag := g.place(s)
	v := at.Load()
	id := v & (1<<guessedBits - 1)
	if v^id != tag {
		return 0
	}
	return storage.RecordID(id)
}

// note remembers the record that an entry leads to; without an entry nothing is known.
func (g *guesses) note(s kv.Span, entry []byte) {
	at, tag := g.place(s)
	if entry == nil {
		at.Store(0)
	} else if _, id := kv.RecordOf(entry); id < 1<<guessedBits {
		at.Store(tag | uint64(id))
	}
}

var (
	_ kv.Guesser = cachingState{}
	_ kv.Guesser = recordingState{}
)

// Guess implements kv.Guesser.
func (v cachingState) Guess(s kv.Span) storage.RecordID { return v.lookups.guesses.of(s) }

// Guessed implements kv.Guesser.
func (v cachingState) Guessed(s kv.Span, entry, record []byte) { v.found(s, entry, record) }

// Guess implements kv.Guesser. What is known for certain needs no guess.
func (d recordingState) Guess(s kv.Span) storage.RecordID {
	if d.lookups == nil {
		return 0
	}
	if f, _ := d.lookups.get(s); f != nil {
		return 0
	}
	return d.lookups.guesses.of(s)
}

// Guessed implements kv.Guesser.
func (d recordingState) Guessed(s kv.Span, entry, record []byte) {
	if entry == nil {
		d.lookups.guesses.note(s, nil)
		return
	}
	d.found(s, entry, record, true)
}
