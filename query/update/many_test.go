package update

import (
	"fmt"
	"testing"
	"time"

	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// TestManyFields: the cost of a field does not depend on how many others an update has, in
// whatever order they come.
func TestManyFields(t *testing.T) {
	const n, limit = 400_000, 100 * time.Second // it takes a second or two, and took ten minutes
	begin := time.Now()
	fields := value.NewBuilder()
	for i := range n {
		fields.Int32(fmt.Sprintf("f%06d", n-i), 1)
	}
	u, err := Compile(value.Document(value.NewDoc("$set", value.Document(fields.Doc()))), Options{})
	if err != nil {
		t.Fatal(err)
	}
	d, _, err := u.Apply(expr.NewEnv(0), value.MustJSON(`{"_id": 1}`), ApplyOptions{Position: -1})
	if it := d.Iter(); err != nil || d.Len() != n+1 || !it.Next() || !it.Next() || it.Key() != "f000001" {
		t.Errorf("%d fields: %v", d.Len(), err)
	}
	if took := time.Since(begin); took > limit {
		t.Error(took)
	}
}

// TestManyFilters does the same for array filters.
func TestManyFilters(t *testing.T) {
	const n, limit = 100_000, 100 * time.Second
	begin := time.Now()
	fields := value.NewBuilder()
	var filters []value.Doc
	for i := range n {
		fields.Int32(fmt.Sprintf("a.$[f%06d]", n-i), 1)
		filters = append(filters, value.NewDoc(fmt.Sprintf("f%06d", i+1), value.Int32(int32(i))))
	}
	if _, err := Compile(value.Document(value.NewDoc("$set", value.Document(fields.Doc()))), Options{ArrayFilters: filters}); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took > limit {
		t.Error(took)
	}
}
