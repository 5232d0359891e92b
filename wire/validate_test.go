package wire

import (
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/duskdb/duskdb/value"
)

// broken has the right length and a type that does not exist.
var broken = value.Doc{8, 0, 0, 0, 0x42, 'a', 0, 0}

// nested returns a document of that many levels.
func nested(levels int) value.Doc {
	d := value.EmptyDoc
	for range levels - 1 {
		d = value.NewDoc("a", value.Document(d))
	}
	return d
}

func TestValidate(t *testing.T) {
	good := doc(t, bson.D{{Key: "find", Value: "c"}})
	for _, c := range []struct {
		name string
		in   []byte
		code int32
	}{
		{"good", message(0, good, NewSequence("s", good, good)), 0},
		{"broken body", message(0, broken), CodeInvalidBSON},
		{"broken document", message(0, good, NewSequence("s", good, broken)), CodeInvalidBSON},
		{"broken document in the second sequence", message(0, good, NewSequence("s", good), NewSequence("t", broken)), CodeInvalidBSON},
		{"200 levels", message(0, nested(200)), 0},
		{"400 levels", message(0, nested(400)), CodeOverflow},
		{"good query", finish(append(append(BeginQuery(nil, 1, 0, "a.$cmd"), good...), good...), 0), 0},
		{"broken query", finish(append(BeginQuery(nil, 1, 0, "a.$cmd"), broken...), 0), CodeInvalidBSON},
		{"broken projection", finish(append(append(BeginQuery(nil, 1, 0, "a.$cmd"), good...), broken...), 0), CodeInvalidBSON},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := readOne(c.in)
			if err != nil {
				t.Fatalf("reading looks too deep: %v", err)
			}
			err = m.(interface{ Validate() error }).Validate()
			var e *Error
			if c.code == 0 && err != nil || c.code != 0 && (!errors.As(err, &e) || e.Code != c.code || e.Fatal) {
				t.Errorf("got %v, want code %d", err, c.code)
			}
		})
	}
}

func BenchmarkReadAndValidateSmall(b *testing.B) {
	r := NewReader(&loop{b: message(0, findCommand(b))})
	b.ReportAllocs()
	for b.Loop() {
		m, err := r.ReadMessage()
		if err == nil {
			err = m.(*Msg).Validate()
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
