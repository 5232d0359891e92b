package source

import (
	"cmp"
	"slices"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/value"
)

// maxEventBytes is how large a change event may be before it must be split.
const maxEventBytes = 16<<20 + 8<<10

// SplitEvents is $changeStreamSplitLargeEvent: it splits an event that is too large into
// fragments, between its top-level fields.
type SplitEvents struct{ stage.Passive }

// ParseSplitLargeEvent compiles $changeStreamSplitLargeEvent.
func ParseSplitLargeEvent(_ *stage.Parser, v value.Value) ([]stage.Stage, error) {
	if v.Kind() != value.KindDocument || !v.Doc().IsEmpty() {
		return nil, mongoerr.New(7182800, "$changeStreamSplitLargeEvent spec should be an empty object")
	}
	return []stage.Stage{&SplitEvents{}}, nil
}

// Name is the name of the stage.
func (s *SplitEvents) Name() string { return "$changeStreamSplitLargeEvent" }

// Spec is the stage as explain shows it.
func (s *SplitEvents) Spec() value.Value { return value.Document(value.EmptyDoc) }

// Open runs the stage.
func (s *SplitEvents) Open(x *stage.Exec, src stage.Iterator) (stage.Iterator, error) {
	var queue []value.Doc
	return stage.Pull(src, func() (value.Doc, error) {
		if len(queue) == 0 {
			d, err := src.Next()
			if d == nil || err != nil {
				return nil, err
			}
			if len(d) <= maxEventBytes {
				return d, nil
			}
			if queue, err = SplitEvent(d, maxEventBytes, x.FragmentID); err != nil {
				return nil, err
			}
		}
		d := queue[0]
		queue = queue[1:]
		return d, nil
	}), nil
}

// SplitEvent splits an event into fragments of at most limit bytes. The _id, which is
// the resume token, does not count: a reply has room for it in addition. Small fields
// come first, so that the same event is always split in the same way. id returns the _id
// of the n-th fragment, or that of the whole event for 0.
func SplitEvent(d value.Doc, limit int, id func(n int) value.Doc) ([]value.Doc, error) {
	fields := splitFields(d)
	if len(fields) == 0 {
		return nil, mongoerr.New(7182502, "Cannot split an empty event or an event containing solely '_id' field")
	}
	limit -= len(id(0))
	var parts [][]field
	for len(fields) > 0 {
		size, n := fragmentOverhead(id(len(parts)+1)), 0
		for n < len(fields) && (n == 0 || size+len(fields[n].element) <= limit) {
			size += len(fields[n].element)
			n++
		}
		if size > limit {
			return nil, mongoerr.Newf(7182500, "Splitting change event failed: fragment size %d is greater than maximum allowed fragment size %d", size, limit)
		}
		parts, fields = append(parts, fields[:n]), fields[n:]
	}
	docs := make([]value.Doc, len(parts))
	for i, part := range parts {
		b := fragmentHead(id(i+1), i+1, len(parts))
		for _, f := range part {
			b.Raw(f.element)
		}
		docs[i] = b.Doc()
	}
	return docs, nil
}

// field is a top-level field of an event.
type field struct {
	name    string
	element []byte
}

// splitFields returns the fields of an event without _id, sorted by size and name.
func splitFields(d value.Doc) (fields []field) {
	it := d.Iter()
	for it.Next() {
		if it.Key() != "_id" {
			fields = append(fields, field{it.Key(), it.Element()})
		}
	}
	slices.SortFunc(fields, func(a, b field) int {
		return cmp.Or(cmp.Compare(len(a.element), len(b.element)), cmp.Compare(a.name, b.name))
	})
	return fields
}

// fragmentHead begins a fragment with the fields that all fragments have.
func fragmentHead(id value.Doc, n, of int) *value.Builder {
	b := value.NewBuilder().Document("_id", id)
	return b.StartDocument("splitEvent").Int32("fragment", int32(n)).Int32("of", int32(of)).End()
}

// fragmentOverhead returns how many bytes of a fragment are not fields of the event: its
// head, and the token a second time, by which shards merge their streams.
func fragmentOverhead(id value.Doc) int {
	const sortKey = 1 + len("$sortKey") + 1 + 5 + 1 + len("0") + 1
	return len(fragmentHead(id, 1, 0).Doc()) + sortKey + len(id)
}
