package match

import (
	"github.com/duskdb/duskdb/internal/relaxed"
	"github.com/duskdb/duskdb/value"
)

// doc reads a document as people write it in a shell.
func doc(s string) value.Doc { return relaxed.MustDoc(s) }
