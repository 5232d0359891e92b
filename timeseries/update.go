package timeseries

import (
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// UpdateRequest is one statement of the update command on a time series.
type UpdateRequest struct {
	Filter value.Doc
	Update value.Value // a document, or the array of a pipeline
	Multi  bool
	Upsert bool
}

// TranslateUpdate translates an update of the meta field, the only update that
// is possible, to one of buckets. All measurements of a matched bucket count
// as matched.
func (o *Options) TranslateUpdate(r UpdateRequest) (filter, update value.Doc, err error) {
	switch {
	case !r.Multi:
		return nil, nil, invalid("Cannot perform a non-multi update on a time-series collection")
	case r.Upsert:
		return nil, nil, invalid("Cannot perform an upsert on a time-series collection")
	case o.MetaField == "":
		return nil, nil, invalid("Cannot perform an update on a time-series collection that does not have a metaField")
	case r.Update.Kind() == value.KindArray:
		return nil, nil, invalid("Cannot perform an update on a time-series collection using a pipeline update")
	case !strings.HasPrefix(firstKey(r.Update.Doc()), "$"):
		return nil, nil, invalid("Cannot perform an update on a time-series collection using a replacement document")
	}
	if err := o.checkMetaFilter(r.Filter); err != nil {
		return nil, nil, err
	}
	p := o.NewPushdown(r.Filter, PushdownOptions{})
	if !p.MetaOnly {
		return nil, nil, invalid("Cannot perform an update or delete on a time-series collection when querying on a field that is not the metaField '%s'", o.MetaField)
	}
	update, err = o.metaUpdate(r.Update.Doc())
	return p.Filter, update, err
}

// checkMetaFilter refuses filters that use other fields than the meta field.
func (o *Options) checkMetaFilter(filter value.Doc) error {
	for name, v := range filter.All() {
		switch name {
		case "$expr", "$where":
			return invalid("Cannot use %s when performing an update or delete on a time-series collection", name)
		case "$and", "$or", "$nor":
			for branch := range v.Doc().Values() {
				if err := o.checkMetaFilter(branch.Doc()); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// metaUpdate renames the meta field in the arguments of update operators.
func (o *Options) metaUpdate(update value.Doc) (value.Doc, error) {
	b := value.NewBuilder()
	for op, fields := range update.All() {
		if fields.Kind() != value.KindDocument {
			b.Append(op, fields) // the update language will refuse it
			continue
		}
		b.StartDocument(op)
		for path, v := range fields.Doc().All() {
			inBucket, ok := o.metaPath(path)
			if !ok {
				return nil, o.notMeta()
			}
			if op == "$rename" {
				to, ok := o.metaPath(v.Str())
				if v.Kind() != value.KindString || !ok {
					return nil, o.notMeta()
				}
				v = value.String(to)
			}
			b.Append(inBucket, v)
		}
		b.End()
	}
	return b.Doc(), nil
}

func (o *Options) notMeta() error {
	return invalid("Cannot perform an update on a time-series collection which updates a field that is not the metaField '%s'", o.MetaField)
}

// CheckFindAndModify refuses a findAndModify on a time series with a sort or
// with retries, as mongod does.
func CheckFindAndModify(remove, sorted, retryable bool) error {
	switch {
	case retryable && remove:
		return mongoerr.New(7308305, "Retryable findAndModify on a timeseries is not supported")
	case retryable:
		return mongoerr.New(7314600, "Retryable findAndModify on a timeseries is not supported")
	case sorted:
		return mongoerr.New(mongoerr.InvalidOptions, "Cannot perform a findAndModify with a query and sort on a time-series collection.")
	}
	return nil
}
