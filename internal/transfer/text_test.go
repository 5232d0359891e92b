package transfer_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/transfer"
)

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestText(t *testing.T) {
	tests := []struct{ name, in, want, err string }{
		{"empty", "", "", ""},
		{"short", "{}", "{}", ""},
		{"gzip", zipped(t, "{\"a\":1}\n"), "{\"a\":1}\n", ""},
		{"gzip of binary", zipped(t, "\x00\x01{}"), "", "not text: byte 0 is null"},
		{"broken gzip", "\x1f\x8bnothing", "", "gzip"},
		{"zip", "PK\x03\x04{}", "", "ZIP"},
		{"zstd", "\x28\xb5\x2f\xfd{}", "", "Zstandard"},
		{"bson", "\x05\x00\x00\x00\x00", "", "not text: byte 1 is null"},
		{"UTF-16", "\xff\xfe{\x00}\x00", "", "UTF-16"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := transfer.Text(strings.NewReader(tt.in))
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("got %v, want an error with %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(r); err != nil || string(got) != tt.want {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}
