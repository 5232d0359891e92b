package storagetest

import "github.com/duskdb/duskdb/storage"

// Got returns the value of a read that must not fail, and panics otherwise.
func Got[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Get reads a record that must be readable, if it is there; it panics otherwise.
func Get(c storage.Collection, id storage.RecordID) (storage.Record, bool) {
	r, ok, err := c.Get(id)
	if err != nil {
		panic(err)
	}
	return r, ok
}

// Done returns the error of a write.
func Done(_ storage.Written, err error) error { return err }
