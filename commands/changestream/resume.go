package changestream

import (
	"encoding/hex"
	"strings"

	"github.com/duskdb/duskdb/commands/changestream/token"
	"github.com/duskdb/duskdb/commands/exec"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg"
	"github.com/duskdb/duskdb/value"
)

// HistoryLost is the message if the log no longer has the entry that a stream resumes
// after.
const HistoryLost = "Resume of change stream was not possible, as the resume point may no longer be in the oplog."

// A stream that resumes after an event checks that it is the same stream: the event must
// be in the log, and must be the first that comes out of the pipeline. Earlier events are
// skipped before they are made. The check is at the end of the pipeline, so that it fails
// if the pipeline filters the event out.

// Resumption is the event that a stream resumes after.
type Resumption struct {
	at         string // its token, as a whole
	fragment   int    // the last fragment of it that the client has, 0: it was not split
	invalidate bool
	found      bool
}

func newResumption(t *token.Token, token value.Doc) *Resumption {
	return &Resumption{at: WholeText(t, token), fragment: t.Fragment, invalidate: t.FromInvalidate}
}

// Check refuses to resume after a fragment with a pipeline that does not split events.
func (r *Resumption) Check(p *agg.Pipeline) error {
	if r == nil || r.fragment == 0 || p.SplitsEvents() {
		return nil
	}
	return mongoerr.New(mongoerr.ChangeStreamFatalError, "To resume from a split event, the $changeStream pipeline must include a $changeStreamSplitLargeEvent stage")
}

// TokenText returns the text by which tokens are compared.
func TokenText(token value.Doc) string { return strings.ToUpper(token.Lookup("_data").Str()) }

// exactText returns the text of a client's token as the server writes it. It adds the end
// marker if it is missing, and removes what follows the marker.
func exactText(given value.Doc) string {
	k, err := hex.DecodeString(given.Lookup("_data").Str())
	if err == nil {
		k, err = token.WholeValues(k)
	}
	if err != nil { // decodeToken has refused these before
		return TokenText(given)
	}
	return strings.ToUpper(hex.EncodeToString(append(k[:len(k):len(k)], token.KeyEnd)))
}

// WholeText returns the text of an event's token, given the token of the event or of a
// fragment of it.
func WholeText(t *token.Token, given value.Doc) string {
	text := exactText(given)
	if t.Fragment == 0 {
		return text
	}
	end := strings.ToUpper(hex.EncodeToString(append(token.AppendKeyInt(nil, int64(t.Fragment-1)), token.KeyEnd)))
	return strings.TrimSuffix(text, end) + text[len(text)-2:]
}

// passes reports whether the stream skips an event. If the stream resumes after an
// invalidate event, it finds this event here, before the pipeline sees it.
func (r *Resumption) passes(token value.Doc) bool {
	if r == nil {
		return false
	}
	now := token.Lookup("_data").Str()
	if now == r.at && r.invalidate {
		r.found = true
		return true
	}
	return now < r.at
}

// End is the last iterator of a change stream's pipeline. It skips the events that the
// client has seen, and checks that the pipeline has not changed the resume tokens.
type End struct {
	agg.Iterator
	Stream *Stream
}

// Next returns the next event, nil if there is no new event yet.
func (e *End) Next() (value.Doc, error) {
	for {
		d, err := e.Iterator.Next()
		if d == nil || err != nil {
			return nil, err
		}
		id := d.Lookup("_id")
		seen, err := e.Stream.seenBefore(d)
		if err == nil && !seen {
			err = e.Stream.deliver(id)
		}
		if err != nil {
			return nil, mongoerr.From(err).WithPrefix(exec.AggregationFailed(e.Stream.x.Running(), e.Stream.ns))
		}
		if !seen {
			return d, nil
		}
	}
}

// seenBefore reports whether an event, or a fragment of one, is the one that the stream
// resumes after.
func (cs *Stream) seenBefore(d value.Doc) (bool, error) {
	r := cs.Resume
	switch {
	case r == nil:
		return false, nil
	case TokenText(cs.made) != r.at:
		if !r.found {
			return false, mongoerr.Newf(mongoerr.ChangeStreamFatalError, "cannot resume stream; the resume token was not found. {_data: %s}", cs.made.Lookup("_data"))
		}
		cs.Resume = nil
		return false, nil
	}
	r.found = true
	if r.fragment == 0 {
		return true, nil
	}
	return r.seenFragment(d)
}

// seenFragment reports whether the client has a fragment of the event.
func (r *Resumption) seenFragment(d value.Doc) (bool, error) {
	split := d.Lookup("splitEvent").Doc()
	t, err := token.Decode(d.Lookup("_id").Doc())
	switch {
	case err != nil || t.Fragment == 0:
		return false, mongoerr.New(mongoerr.ChangeStreamFatalError, "Attempted to resume from a split event fragment, but the event in the resumed stream was not large enough to be split")
	case r.fragment > int(split.Lookup("of").SafeInt64()):
		return false, mongoerr.New(mongoerr.ChangeStreamFatalError, "Attempted to resume from a split event, but the resumed stream produced a different split. Ensure that the pipeline used to resume is the same as the original")
	}
	return t.Fragment <= r.fragment, nil
}

// deliver notes the token of an event, or a fragment of one, that the client
// gets.
func (cs *Stream) deliver(id value.Value) error {
	token, want := cs.made, cs.made.Lookup("_data")
	if id.Kind() == value.KindDocument && cs.split {
		token = id.Doc().Clone()
		want = token.Lookup("_data")
	}
	if id.Kind() != value.KindDocument || !value.Equal(id.Doc().Lookup("_data"), want) {
		found := value.EmptyDoc
		if !id.IsMissing() {
			found = value.NewDoc("_id", id)
		}
		return mongoerr.Newf(mongoerr.ChangeStreamFatalError, "Encountered an event whose _id field, which contains the resume token, was modified by the pipeline. Modifying the _id field of an event makes it impossible to resume the stream from that point. Only transformations that retain the unmodified _id field are allowed. Expected: { _id: { _data: %s } } but found: %s", want, found)
	}
	cs.previous, cs.token = cs.token, token
	return nil
}

// fragmentToken returns the token of the n-th fragment of the event that entered the
// pipeline last. Fragments are numbered from 1; 0 stands for the whole event.
func (cs *Stream) fragmentToken(n int) value.Doc {
	if cs.split = true; n == 0 {
		svc(cs.x).Metrics.ChangeStreams.Split.Add(1)
	}
	t := cs.named
	t.Fragment = n
	return t.Encode()
}
