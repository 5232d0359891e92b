package session

import (
	"cmp"
	"slices"

	"github.com/duskdb/duskdb/value"
)

// A retryable write carries a txnNumber, and each of its statements a
// number of its own. What a statement has written is remembered in the
// session's record in config.transactions, by the same engine transaction
// that wrote it. When a client that lost the reply sends the command again,
// on another connection or to a restarted server, the statement is not run again: the reply
// comes from the record. A statement that wrote nothing is not recorded, since it can run
// again.

// A command of n statements runs each in its own engine transaction. So that the cost grows
// with n, not with its square, the record has only the latest outcomes. Older ones are
// moved, many at a time, to parts in config.system.statements, which are written only once
// (parts.go).

// MaxRecent is how many outcomes the session's record holds.
const MaxRecent = 16

// RetryHistory is what the retryable write of the session's number has done.
type RetryHistory struct {
	Done       []RetriedStatement         // sorted by statement number
	outOfOrder map[int32]RetriedStatement // statements whose numbers did not come in order
	Recent     []RetriedStatement         // the outcomes in the session's record, in the order of execution
	Parts      bool                       // whether this number may have parts

	Pending PendingStatements // the outcomes that the running engine transaction adds
}

// PendingStatements has the outcomes that the running engine transaction adds to the
// history. Its slices are reused.
type PendingStatements struct {
	Any    bool               // whether something is pending
	Joined int32              // how many statements are joined to the newest outcome
	Added  []RetriedStatement // further outcomes
	Moved  bool               // whether all but the last outcome are in parts now
	Stored Stored             // the place of the session's record
}

// RetriedStatement is the outcome of a statement, or of several in a row
// with the same outcome.
type RetriedStatement struct {
	First, Last int32       // numbers of the statements
	Kind        byte        // 'i', 'u' or 'd'
	ID          value.Value // _id of an inserted document, for an upsert
	Image       value.Doc   // the document that findAndModify returned; nil: none
}

// Forget clears the history for a new txnNumber.
func (h *RetryHistory) Forget() *RetryHistory {
	if h == nil {
		return &RetryHistory{}
	}
	clear(h.Done)
	clear(h.Recent[:cap(h.Recent)])
	h.Done, h.Recent, h.outOfOrder, h.Parts = h.Done[:0], h.Recent[:0], nil, false
	return h
}

// Find looks for a statement.
func (h *RetryHistory) Find(id int32) *RetriedStatement {
	if h == nil {
		return nil
	}
	i, _ := slices.BinarySearchFunc(h.Done, id, func(s RetriedStatement, id int32) int { return cmp.Compare(s.Last, id) })
	if i < len(h.Done) && h.Done[i].First <= id {
		return &h.Done[i]
	}
	if s, ok := h.outOfOrder[id]; ok {
		return &s
	}
	return nil
}

// Add adds an outcome to the history.
func (h *RetryHistory) Add(s RetriedStatement) {
	if n := len(h.Done); n == 0 || h.Done[n-1].Last < s.First {
		h.Done = append(h.Done, s)
		return
	}
	if h.outOfOrder == nil {
		h.outOfOrder = map[int32]RetriedStatement{}
	}
	for id := s.First; ; id++ {
		h.outOfOrder[id] = s
		if id == s.Last {
			return
		}
	}
}

// Newest returns the newest outcome, to which the next one may be joined. It returns nil if
// that is not possible.
func (h *RetryHistory) Newest() *RetriedStatement {
	n := len(h.Recent)
	if n == 0 {
		return nil
	}
	if s := &h.Recent[n-1]; s.Last == h.Done[len(h.Done)-1].Last {
		return s
	}
	return nil // it is in outOfOrder
}

// Joins reports whether s follows l directly and has the same outcome.
func (l *RetriedStatement) Joins(s *RetriedStatement) bool {
	return l.Kind == s.Kind && l.Last+1 == s.First && l.ID.IsMissing() && s.ID.IsMissing() && l.Image == nil && s.Image == nil
}

// Append writes the outcome as an element of an array that is stored.
func (s *RetriedStatement) Append(b *value.Builder) {
	b.StartDocument("").Int32("first", s.First).Int32("last", s.Last).String("op", string(s.Kind)).Append("id", s.ID)
	if s.Image != nil {
		b.Document("image", s.Image)
	}
	b.End()
}

// ReadStatement reads what Append has written.
func ReadStatement(d value.Doc) RetriedStatement {
	s := RetriedStatement{First: d.Lookup("first").Int32(), Last: d.Lookup("last").Int32(), ID: d.Lookup("id"), Image: d.Lookup("image").Doc()}
	if op := d.Lookup("op").Str(); op != "" {
		s.Kind = op[0]
	}
	return s
}
