package observe_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/rs/zerolog"
	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/commands/observe"
	"github.com/duskdb/duskdb/value"
)

// logged returns the line that write writes to a log with a limit, parsed.
func logged(t testing.TB, limit *observe.LogLimit, write func(l zerolog.Logger)) (line string, fields map[string]any) {
	t.Helper()
	var out bytes.Buffer
	write(zerolog.New(limit.Writer(&out)))
	if err := json.Unmarshal(out.Bytes(), &fields); err != nil {
		t.Fatalf("the line is no document: %v: %.200s", err, out.String())
	}
	return out.String(), fields
}

func TestLogLimit(t *testing.T) {
	long := strings.Repeat("ä", 3e6/2)
	set := new(observe.LogLimit)
	set.SetKB(1)
	for _, tt := range []struct {
		name  string
		limit *observe.LogLimit
		bytes int
		write func(l zerolog.Logger)
		cut   string // the attribute that was
	}{
		{"text", nil, 10 << 10, func(l zerolog.Logger) { l.Info().Str("text", long).Int("after", 1).Msg("m") }, "text"},
		{"error", nil, 10 << 10, func(l zerolog.Logger) { l.Warn().Err(errors.New(long)).Int("after", 1).Msg("m") }, "error"},
		{"array", nil, 10 << 10, func(l zerolog.Logger) { l.Info().Strs("list", []string{long}).Int("after", 1).Msg("m") }, "list"},
		{"attribute in attr", nil, 10 << 10, func(l zerolog.Logger) {
			l.Info().RawJSON("attr", []byte(`{"errMsg":"`+long+`"}`)).Int("after", 1).Msg("m")
		}, "errMsg"},
		{"attribute beside others that were cut before", nil, 10 << 10, func(l zerolog.Logger) {
			l.Info().Str("error", long).RawJSON("truncated", []byte(`{"command":{"type":"string","size":1}}`)).Int("after", 1).Msg("m")
		}, "error"},
		{"name", nil, 10 << 10, func(l zerolog.Logger) { l.Info().Int(long, 1).Int("after", 1).Msg("m") }, ""},
		{"smaller", set, 1 << 10, func(l zerolog.Logger) { l.Info().Str("text", long).Int("after", 1).Msg("m") }, "text"},
	} {
		line, fields := logged(t, tt.limit, tt.write)
		if len(line) > tt.bytes+200 || fields["after"] != 1.0 || fields["message"] != "m" {
			t.Errorf("%s: a line of %d bytes: %.300s", tt.name, len(line), line)
		}
		if tt.cut == "" {
			continue
		}
		of, _ := fields["truncated"].(map[string]any)
		if what, _ := of[tt.cut].(map[string]any); what["size"] == nil || what["size"].(float64) < 3e6 || what["type"] == nil {
			t.Errorf("%s: truncated is %v", tt.name, of)
		}
	}
	set.SetKB(0)
	if line, _ := logged(t, set, func(l zerolog.Logger) { l.Info().Str("text", long).Msg("m") }); len(line) < 3e6 {
		t.Errorf("without a limit the line has %d bytes", len(line))
	}
	var out bytes.Buffer
	if _, err := new(observe.LogLimit).Writer(&out).Write([]byte(long)); err != nil || out.Len() > 11<<10 {
		t.Errorf("a line that is no document has %d bytes: %v", out.Len(), err)
	}
}

// TestLogLimitAnyLine: whatever is logged, the line is a document within the limit, and what
// fits is not changed.
func TestLogLimitAnyLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := new(observe.LogLimit)
		limit.SetKB(1)
		text := strings.Repeat(rapid.StringN(1, 40, -1).Draw(t, "text"), rapid.IntRange(1, 100).Draw(t, "times"))
		var out, whole bytes.Buffer
		for _, l := range []zerolog.Logger{zerolog.New(limit.Writer(&out)), zerolog.New(&whole)} {
			l.Info().Str("a", text).Str("b", "b").Msg("m")
		}
		var cut, full map[string]any
		if err := errors.Join(json.Unmarshal(out.Bytes(), &cut), json.Unmarshal(whole.Bytes(), &full)); err != nil {
			t.Fatalf("%v: %s", err, out.String())
		}
		if out.Len() > 1400 || cut["b"] != "b" || !strings.HasPrefix(full["a"].(string), cut["a"].(string)) {
			t.Fatalf("%d bytes: %s", out.Len(), out.String())
		}
		if (cut["truncated"] == nil) != (cut["a"] == full["a"]) {
			t.Fatalf("truncated is %v", cut["truncated"])
		}
	})
}

// TestLogDocument: the text of a document ends before the first value that does not fit, which
// is named.
func TestLogDocument(t *testing.T) {
	long := value.String(strings.Repeat("x", 15e6))
	list := make([]value.Value, 5000)
	for i := range list {
		list[i] = value.Document(value.NewDoc("n", value.Int(int64(i))))
	}
	deep := value.NewDoc("end", value.Int32(1))
	for range 150 {
		deep = value.NewDoc("d", value.Document(deep))
	}
	for _, tt := range []struct {
		d         value.Doc
		text, cut string
	}{
		{value.NewDoc("a", value.Int32(1), "b", value.NewArray(value.String("x"), value.Null())), `{"a":1,"b":["x",null]}`, ``},
		{value.NewDoc("a", value.Int32(1), "b", long, "c", value.Int32(2)), `{"a":1}`, `{"b":{"type":"string","size":15000000}}`},
		{value.NewDoc("a", value.Document(value.NewDoc("x", value.Int32(1), "y", long))), `{"a":{"x":1}}`, `{"a":{"y":{"type":"string","size":15000000}}}`},
		{value.NewDoc("a", value.NewArray(long)), `{"a":[]}`, `{"a":{"0":{"type":"string","size":15000000}}}`},
		{value.NewDoc("a", value.Binary(0, []byte(long.Str()))), `{}`, `{"a":{"type":"binData","size":15000000}}`},
		{deep, deep.JSON(), ``},
	} {
		got := observe.LogDocument(tt.d, 10<<10)
		if cut := got.Truncated; string(got.Text) != tt.text || (cut == nil) != (tt.cut == "") || cut != nil && cut.JSON() != tt.cut {
			t.Errorf("%.100s is %.200s, truncated %.200s", tt.d, got.Text, cut)
		}
	}
	got := observe.LogDocument(value.NewDoc("list", value.NewArray(list...)), 10<<10)
	if len(got.Text) > 11<<10 || len(got.Text) < 9<<10 || !json.Valid(got.Text) || got.Truncated == nil {
		t.Errorf("%d bytes, truncated %s", len(got.Text), got.Truncated)
	}
}
