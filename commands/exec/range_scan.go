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
func (r *ScanIterator) readRanges(coll storage.Collection, s *Scan) (err error) {
	visited, taken, bytes := 0, 0, 0
	for err == nil && r.failed == nil && taken < r.chunk && bytes < chunkBytes && r.at.within < s.Ranges.Len() {
		if err = r.tick(); err != nil {
			break
		}
		ended := true // no entry was left
		err = r.scanIndex(coll, s.Index, r.onwards(s), func(key []byte, rec storage.Record) bool {
			visited++
			at, inside := s.locate(r.at.within, key)
			if r.at.within = at; !inside {
				r.at.started, ended = false, false
				if at == s.Ranges.Len() {
					s.Counts.Last = 1
				}
				return false
			}
			taken++
			bytes += len(rec.Doc)
			r.at.started, r.at.key, r.at.after = true, append(r.at.key[:0], key...), rec.ID
			if r.isNew(rec.ID, s) {
				r.failed = r.entry(key, rec)
			}
			ended = taken < r.chunk && bytes < chunkBytes && r.failed == nil
			return ended
		})
		if ended {
			r.at.within, r.at.started = s.Ranges.Len(), false
		}
	}
	if r.at.within >= s.Ranges.Len() {
		r.nextScan()
	}
	return r.examined(s, visited, err)
}

// onwards returns the keys that are still ahead: from the present position to the end of
// the index.
func (r *ScanIterator) onwards(s *Scan) storage.KeyRange {
	kr := s.keys(r.at.within)
	kr.Wanted = r.chunk
	if kr.Reverse {
		kr.Lo = nil
	} else {
		kr.Hi = nil
	}
	if r.at.started {
		kr.AfterKey, kr.AfterID = r.at.key, r.at.after
	} else {
		s.Counts.Seeks++
	}
	return kr
}
