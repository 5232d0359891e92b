package mongoerr

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/value"
)

func TestFrom(t *testing.T) {
	bad := New(BadValue, "no")
	tests := []struct {
		name string
		err  error
		code Code
		msg  string
	}{
		{"itself", bad, BadValue, "no"},
		{"wrapped", fmt.Errorf("reading: %w", bad), BadValue, "no"},
		{"joined", errors.Join(io.EOF, bad), BadValue, "no"},
		{"write error", NewWriteError(3, bad), BadValue, "no"},
		{"unknown", io.ErrUnexpectedEOF, InternalError, "unexpected EOF"},
		{"cancelled", context.Canceled, Interrupted, "operation was interrupted"},
		{"deadline", fmt.Errorf("x: %w", context.DeadlineExceeded), MaxTimeMSExpired, "operation exceeded time limit"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := From(tt.err)
			if e.Code != tt.code || e.Message != tt.msg {
				t.Errorf("From = %v, want %v: %s", e, tt.code, tt.msg)
			}
			if CodeOf(tt.err) != tt.code || !Is(tt.err, tt.code) || Is(tt.err, IllegalOperation) {
				t.Error("CodeOf and Is do not agree with From")
			}
		})
	}
}

func TestFromNil(t *testing.T) {
	if From(nil) != nil || CodeOf(nil) != OK || Is(nil, OK) || NewWriteError(0, nil) != nil {
		t.Error("no error has become one")
	}
}

func TestFromKeepsCause(t *testing.T) {
	if !errors.Is(From(io.ErrShortWrite), io.ErrShortWrite) {
		t.Error("the cause of an unknown error is lost")
	}
	if !errors.Is(From(context.Canceled), context.Canceled) {
		t.Error("the cause of an interruption is lost")
	}
}

func TestNewf(t *testing.T) {
	e := Newf(OutOfDiskSpace, "cannot write %s: %w", "journal", io.ErrShortWrite)
	if got, want := e.Error(), "OutOfDiskSpace: cannot write journal: short write"; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
	if !errors.Is(e, io.ErrShortWrite) {
		t.Error("the operand of percent w is not the cause")
	}
	if Newf(BadValue, "plain %d", 1).Unwrap() != nil {
		t.Error("a cause from nowhere")
	}
}

// An error may be kept in a variable and refined by many requests at once,
// so the With methods must not change it.
func TestWithCopies(t *testing.T) {
	base := New(WriteConflict, "conflict").WithLabel("a").WithExtra("x", value.Int32(1))
	base.Labels = slices.Grow(base.Labels, 4)
	base.Extra = slices.Grow(base.Extra, 4)
	one := base.WithLabel("b").WithExtra("y", value.Int32(2))
	two := base.WithLabel("c").WithExtra("z", value.Int32(3)).WithCause(io.EOF).WithPrefix("outer")

	if len(base.Labels) != 1 || len(base.Extra) != 1 || base.Unwrap() != nil || base.Message != "conflict" {
		t.Errorf("the original has changed: %+v", base)
	}
	if !one.HasLabel("b") || one.HasLabel("c") || one.Extra[1].Key != "y" {
		t.Errorf("the copies share memory: %+v", one)
	}
	if !two.HasLabel("a") || !two.HasLabel("c") || two.Extra[1].Key != "z" || !errors.Is(two, io.EOF) {
		t.Errorf("the copy lacks something: %+v", two)
	}
	if want := "outer :: caused by :: conflict"; two.Message != want {
		t.Errorf("message %q, want %q", two.Message, want)
	}
	if again := base.WithLabel("a"); len(again.Labels) != 1 {
		t.Error("a label stands twice")
	}
}

func TestAppendReply(t *testing.T) {
	tests := []struct {
		name string
		err  *Error
		want bson.D
	}{
		{"plain", New(CommandNotFound, "no such command: 'x'"), bson.D{
			{Key: "ok", Value: 0.0},
			{Key: "errmsg", Value: "no such command: 'x'"},
			{Key: "code", Value: int32(59)},
			{Key: "codeName", Value: "CommandNotFound"},
		}},
		{"no name", New(16020, "m"), bson.D{
			{Key: "ok", Value: 0.0},
			{Key: "errmsg", Value: "m"},
			{Key: "code", Value: int32(16020)},
			{Key: "codeName", Value: "Location16020"},
		}},
		{"labels and fields", New(WriteConflict, "m").
			WithLabel(LabelTransientTransaction).WithLabel("other").
			WithExtra("a", value.Bool(true)).WithExtra("b", value.String("s")), bson.D{
			{Key: "ok", Value: 0.0},
			{Key: "errmsg", Value: "m"},
			{Key: "code", Value: int32(112)},
			{Key: "codeName", Value: "WriteConflict"},
			{Key: "errorLabels", Value: bson.A{"TransientTransactionError", "other"}},
			{Key: "a", Value: true},
			{Key: "b", Value: "s"},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := value.NewBuilder()
			tt.err.AppendReply(b)
			if diff := cmp.Diff(tt.want, decode(t, b.Doc())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAppendWriteErrors(t *testing.T) {
	dup := New(DuplicateKey, "E11000 duplicate key error collection: db.c index: a_1 dup key: { a: 1 }").
		WithExtra(FieldKeyPattern, value.Document(value.NewDoc("a", value.Int32(1)))).
		WithExtra(FieldKeyValue, value.Document(value.NewDoc("a", value.Int32(1))))
	invalid := New(DocumentValidationFailure, "Document failed validation").
		WithExtra(FieldErrInfo, value.Document(value.NewDoc("failingDocumentId", value.Int32(7))))
	b := value.NewBuilder()
	b.Int32("n", 0)
	AppendWriteErrors(b, []*WriteError{
		NewWriteError(0, dup), NewWriteError(2, invalid), NewWriteError(5, New(BadValue, "no")),
	})
	key := bson.D{{Key: "a", Value: int32(1)}}
	want := bson.D{{Key: "n", Value: int32(0)}, {Key: "writeErrors", Value: bson.A{
		bson.D{
			{Key: "index", Value: int32(0)},
			{Key: "code", Value: int32(11000)},
			{Key: "errmsg", Value: dup.Message},
			{Key: "keyPattern", Value: key},
			{Key: "keyValue", Value: key},
		},
		bson.D{
			{Key: "index", Value: int32(2)},
			{Key: "code", Value: int32(121)},
			{Key: "errmsg", Value: "Document failed validation"},
			{Key: "errInfo", Value: bson.D{{Key: "failingDocumentId", Value: int32(7)}}},
		},
		bson.D{
			{Key: "index", Value: int32(5)},
			{Key: "code", Value: int32(2)},
			{Key: "errmsg", Value: "no"},
		},
	}}}
	if diff := cmp.Diff(want, decode(t, b.Doc())); diff != "" {
		t.Error(diff)
	}
}

func TestNoWriteErrorsNoField(t *testing.T) {
	b := value.NewBuilder()
	AppendWriteErrors(b, nil)
	if d := b.Doc(); !d.IsEmpty() {
		t.Errorf("wrote %v", decode(t, d))
	}
}

func TestWriteErrorIsError(t *testing.T) {
	var err error = NewWriteError(4, New(BadValue, "no"))
	if got, want := err.Error(), "write 4: BadValue: no"; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
	if _, ok := errors.AsType[*Error](err); !ok {
		t.Error("a write error does not unwrap to its error")
	}
}

func TestReplyIsValidBSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := New(Code(rapid.Int32().Draw(t, "code")), rapid.String().Draw(t, "message"))
		for _, l := range rapid.SliceOfN(rapid.String(), 0, 12).Draw(t, "labels") {
			e = e.WithLabel(l)
		}
		b := value.NewBuilder()
		e.AppendReply(b)
		d := b.Doc()
		if err := bson.Raw(d).Validate(); err != nil {
			t.Fatal(err)
		}
		if got := d.Lookup("errmsg").Str(); got != e.Message {
			t.Fatalf("errmsg %q, want %q", got, e.Message)
		}
		if got := Code(d.Lookup("code").Int32()); got != e.Code {
			t.Fatalf("code %d, want %d", got, e.Code)
		}
	})
}

func BenchmarkAppendReply(b *testing.B) {
	e := New(NamespaceNotFound, "ns not found").WithLabel(LabelRetryableWrite)
	buf := make([]byte, 0, 512)
	var w value.Builder
	b.ReportAllocs()
	for b.Loop() {
		w.Reset(buf)
		e.AppendReply(&w)
		_ = w.Doc()
	}
}

func decode(t *testing.T, d value.Doc) bson.D {
	t.Helper()
	var out bson.D
	if err := bson.Unmarshal(d, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestTextIsUTF8(t *testing.T) {
	e := New(BadValue, "bad digit \"\xc2\" of é")
	if got, want := e.Text(), "bad digit \"\uFFFD\" of é"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	b := value.NewBuilder()
	e.AppendReply(b)
	if got := b.Doc().Lookup("errmsg").Str(); got != e.Text() {
		t.Errorf("the reply says %q", got)
	}
}

// The texts are those of IDLParserContext in MongoDB 8.0.
func TestParserErrors(t *testing.T) {
	if err := UnknownField("find.x"); err.Code != 40415 || err.Message != "BSON field 'find.x' is an unknown field." {
		t.Error(err)
	}
	if err := MissingField("find.x"); err.Code != 40414 || err.Message != "BSON field 'find.x' is missing but a required field" {
		t.Error(err)
	}
}

// WithLabel returns a copy of the error that carries one more label.
func (e *Error) WithLabel(label string) *Error {
	c := *e
	if !slices.Contains(e.Labels, label) {
		c.Labels = append(slices.Clip(e.Labels), label)
	}
	return &c
}
