package transfer

import (
	"errors"
	"testing"

	"github.com/duskdb/duskdb/value"
	"github.com/duskdb/duskdb/wire"
)

// counts answers count with 100.
type counts struct{ err error }

func (c counts) Run(command value.Doc, _ ...wire.Sequence) (value.Doc, error) {
	if name, _ := command.First(); name != "count" {
		return nil, errors.New("only counts")
	}
	return value.NewDoc("n", value.Int32(100)), c.err
}

func TestTotal(t *testing.T) {
	for _, tt := range []struct {
		options ExportOptions
		err     error
		want    int
	}{
		{ExportOptions{}, nil, 100},
		{ExportOptions{Skip: 30}, nil, 70},
		{ExportOptions{Skip: 30, Limit: 50}, nil, 50},
		{ExportOptions{Skip: 90, Limit: 50}, nil, 10},
		{ExportOptions{Skip: 200}, nil, 0},
		{ExportOptions{Query: value.NewDoc("a", value.Int32(1))}, nil, -1},
		{ExportOptions{}, errors.New("no server"), -1},
	} {
		if got := tt.options.Total(counts{tt.err}); got != tt.want {
			t.Errorf("%+v: %d, want %d", tt.options, got, tt.want)
		}
	}
}
