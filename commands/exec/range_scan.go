package exec

import (
	"bytes"
	"sort"

	"github.com/duskdb/duskdb/storage"
)

// A scan of several ranges walks from one to the next as in mongod: it also reads the entry
// behind the end of a range. This entry may be in the next range, which saves a seek, or
// show that the next ranges are empty.

// keys are those of the i-th range, as the storage takes them.
func (s *Scan) keys(i int) storage.KeyRange {
	r := s.Ranges.At(i)
	return storage.KeyRange{Lo: r.Lo, Hi: r.Hi, Reverse: s.Reverse}
}

// passed reports whether a key is behind the i-th range.
func (s *Scan) passed(i int, key []byte) bool {
	r := s.Ranges.At(i)
	if s.Reverse {
		return bytes.Compare(key, r.Lo) < 0
	}
	return len(r.Hi) > 0 && bytes.Compare(key, r.Hi) >= 0
}

// ahead reports whether a key is in front of the i-th range.
func (s *Scan) ahead(i int, key []byte) bool {
	r := s.Ranges.At(i)
	if s.Reverse {
		return len(r.Hi) > 0 && bytes.Compare(key, r.Hi) >= 0
	}
	return bytes.Compare(key, r.Lo) < 0
}

// locate returns the first range, beginning with from, whose end is not before a key, and
// whether the key is in this range.
func (s *Scan) locate(from int, key []byte) (at int, inside bool) {
	at = from
	if s.passed(at, key) {
		at = from + 1 + sort.Search(s.Ranges.Len()-from-1, func(i int) bool { return !s.passed(from+1+i, key) })
	}
	return at, at < s.Ranges.Len() && !s.ahead(at, key)
}

// readRanges takes one chunk from the current range and those behind it.
func (w *walker) readRanges(coll storage.Collection, s *Scan) (err error) {
	visited, taken, bytes := 0, 0, 0
	for err == nil && w.failed == nil && taken < w.size && bytes < chunkBytes && w.at.within < s.Ranges.Len() {
		if err = w.tick(); err != nil {
			break
		}
		ended := true // no entry was left
		err = w.decode.scan(coll, s.Index, w.onwards(s, s.toEnd(w.at.within)), func(key []byte, rec storage.Record) bool {
			visited++
			at, inside := s.locate(w.at.within, key)
			if w.at.within = at; !inside {
				w.at.started, ended = false, false
				if at == s.Ranges.Len() {
					s.counts.Last = 1
				}
				return false
			}
			taken++
			bytes += len(rec.Doc)
			w.at.started, w.at.key, w.at.after = true, append(w.at.key[:0], key...), rec.ID
			w.entry(s, key, rec)
			ended = taken < w.size && bytes < chunkBytes && w.failed == nil
			return ended
		})
		if ended {
			w.at.within, w.at.started = s.Ranges.Len(), false
		}
	}
	if w.at.within >= s.Ranges.Len() {
		w.nextScan()
	}
	return w.examined(s, visited, err)
}

// toEnd are the keys from the beginning of the i-th range to the end of the index.
func (s *Scan) toEnd(i int) storage.KeyRange {
	kr := s.keys(i)
	if kr.Reverse {
		kr.Lo = nil
	} else {
		kr.Hi = nil
	}
	return kr
}
