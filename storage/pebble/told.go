package pebble

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cockroachdb/pebble/v2"

	"github.com/duskdb/duskdb/storage"
)

// told is an error of Pebble in words for users: one line, without what only those who
// work on Pebble need.
type told struct {
	text    string
	damaged bool
	cause   error
}

// tell makes an error of Pebble one for users.
func tell(err error) error {
	var t *told
	if err == nil || errors.As(err, &t) {
		return err
	}
	t = &told{text: plain(err.Error()), damaged: pebble.IsCorruptionError(err), cause: err}
	if i := pebble.ExtractDataCorruptionInfo(err); i != nil {
		t.damaged = true
		t.text = fmt.Sprintf("%s is damaged: %s", i.Path, t.text)
	}
	return t
}

// libraryWords are the words in Pebble's messages that name its parts.
var libraryWords = strings.NewReplacer("pebble/record: ", "", "pebble: ", "", "pebble/table: ", "", " <corruption detail carrier>", "")

// plain makes a message of Pebble one line without names of its parts.
func plain(text string) string {
	return strings.TrimSpace(libraryWords.Replace(strings.Join(strings.Fields(text), " ")))
}

func (t *told) Error() string { return t.text }

// Unwrap returns the error of Pebble, which may be one of the system.
func (t *told) Unwrap() error { return t.cause }

// Is makes damage known as such.
func (t *told) Is(target error) bool { return t.damaged && target == storage.ErrDamaged }
