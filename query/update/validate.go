package update

import (
	"fmt"
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// MaxDocumentSize is the largest size of a stored document.
const MaxDocumentSize = 16 << 20

// maxInternalSize is the largest size of a document while it is built.
const maxInternalSize = MaxDocumentSize + 16<<10

func checkSize(d value.Doc) error {
	if err := tooLarge(len(d)); err != nil {
		return err
	}
	if len(d) > MaxDocumentSize {
		return mongoerr.Newf(17419, "Resulting document after update is larger than %d", MaxDocumentSize)
	}
	return nil
}

// tooLarge returns an error for a document that has grown too large before it
// is complete.
func tooLarge(size int) error {
	if size <= maxInternalSize {
		return nil
	}
	return mongoerr.Newf(mongoerr.BSONObjectTooLarge, "BSONObj size: %d (0x%X) is invalid. Size must be between 0 and %d(16MB)",
		size, size, maxInternalSize)
}

// ValidateID checks the _id of a document to insert: it must not be an array, a
// regular expression or undefined, nor have a field, at any depth, that begins
// with "$". A DBRef may.
func ValidateID(id value.Value) error {
	switch id.Kind() {
	case value.KindRegex, value.KindArray, value.KindUndefined:
		return mongoerr.Newf(mongoerr.InvalidIdField, "The '_id' value cannot be of type %s", id.Kind())
	case value.KindDocument:
		if name := findDollar(id.Doc()); name != "" {
			return mongoerr.Newf(mongoerr.DollarPrefixedFieldName,
				"_id fields may not contain '$'-prefixed fields: %s is not valid for storage.", name)
		}
	}
	return nil
}

// findDollar finds a name that begins with "$", except those of a DBRef.
func findDollar(d value.Doc) string {
	it := skipReference(d)
	for it.Next() {
		if strings.HasPrefix(it.Key(), "$") {
			return it.Key()
		}
		if k := it.Kind(); k == value.KindDocument || k == value.KindArray {
			if inner := findDollar(it.Value().Doc()); inner != "" {
				return inner
			}
		}
	}
	return ""
}

// skipReference returns an iterator behind the fields of a DBRef, which are the
// first ones: the string $ref, $id and, if it is there, the string $db.
func skipReference(d value.Doc) value.Iter {
	it := d.Iter()
	if !it.Next() || it.Key() != "$ref" || it.Kind() != value.KindString || !it.Next() || it.Key() != "$id" {
		return d.Iter()
	}
	behind := it
	if it.Next() && it.Key() == "$db" && it.Kind() == value.KindString {
		return it
	}
	return behind
}

// checkStored checks a whole document to store, except for names with "$" at
// its top level.
func checkStored(d value.Doc) error {
	it := d.Iter()
	for it.Next() {
		v := it.Value()
		if it.Key() == "_id" {
			if err := checkStoredID(v); err != nil {
				return err
			}
		}
		if 1+depthOf(v) > maxStoredDepth {
			return errTooDeep
		}
	}
	return nil
}

// checkStoredID is ValidateID for updates, which look at the first level only and have
// messages of their own.
func checkStoredID(id value.Value) error {
	if id.Kind() == value.KindDocument {
		return checkDollarsIn(id.Doc(), "_id.")
	}
	return ValidateID(id)
}

// checkDollars checks that no field at the top level begins with "$", except
// those of a DBRef in their order.
func checkDollars(d value.Doc) error { return checkDollarsIn(d, "") }

// checkDollarsIn is checkDollars for a document at a path.
func checkDollarsIn(d value.Doc, prefix string) error {
	var before, previous value.Iter // the elements before
	it := d.Iter()
	for ; it.Next(); before, previous = previous, it {
		if !strings.HasPrefix(it.Key(), "$") {
			continue
		}
		next := it
		if !next.Next() {
			next = value.Iter{}
		}
		if err := checkReference(before, previous, it, next, prefix); err != nil {
			return err
		}
	}
	return nil
}

// checkReference checks one field that begins with $ by its neighbours.
func checkReference(before, previous, it, next value.Iter, prefix string) error {
	current := it
	fail := func(format string, args ...any) error { return mongoerr.Newf(mongoerr.InvalidDBRef, format, args...) }
	if current.Key() == "$db" {
		if current.Kind() != value.KindString {
			return fail("The DBRef $db field must be a String, not a %s", current.Kind())
		}
		next, current, previous = current, previous, before
		if current.Key() != "$id" {
			return fail("Found $db field without a $id before it, which is invalid.")
		}
	}
	if current.Key() == "$id" {
		next, current = current, previous
		if current.Key() != "$ref" {
			return fail("Found $id field without a $ref before it, which is invalid.")
		}
	}
	if current.Key() != "$ref" {
		return mongoerr.Newf(mongoerr.DollarPrefixedFieldName, "The dollar ($) prefixed field '%s' in '%s' is not allowed in the"+
			" context of an update's replacement document. Consider using an aggregation pipeline with $replaceWith.",
			it.Key(), fmt.Sprint(prefix, it.Key()))
	}
	if current.Kind() != value.KindString {
		return fail("The DBRef $ref field must be a String, not a %s", current.Kind())
	}
	if next.Key() != "$id" {
		return fail("The DBRef $ref field must be followed by a $id field")
	}
	return nil
}
