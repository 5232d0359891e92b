package group

import (
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/flow"
	"github.com/duskdb/duskdb/query/agg/order"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/value"
)

// ParseCount compiles $count into a $group and a $project.
func ParseCount(p *stage.Parser, v value.Value) ([]stage.Stage, error) {
	if v.Kind() != value.KindString {
		return nil, mongoerr.New(40156, "the count field must be a non-empty string")
	}
	name := v.Str()
	switch {
	case name == "":
		return nil, mongoerr.New(40157, "the count field must be a non-empty string")
	case name[0] == '$':
		return nil, mongoerr.New(40158, "the count field cannot be a $-prefixed path")
	}
	switch {
	case strings.IndexByte(name, 0) >= 0:
		return nil, mongoerr.New(40159, "the count field cannot contain a null byte")
	case strings.IndexByte(name, '.') >= 0:
		return nil, mongoerr.New(40160, "the count field cannot contain '.'")
	}
	if name == "_id" {
		return nil, mongoerr.New(9039800, "the count field cannot be '_id'")
	}
	one := value.Document(value.NewDoc("$sum", value.Int32(1)))
	group, err := Parse(p, value.Document(value.NewDoc("_id", value.Null(), name, one)))
	if err != nil {
		return nil, err
	}
	project, err := flow.ParseProject(p, value.Document(value.NewDoc("_id", value.Bool(false))))
	return append(group, project...), err
}

// ParseSortByCount compiles $sortByCount into a $group and a $sort.
func ParseSortByCount(p *stage.Parser, v value.Value) ([]stage.Stage, error) {
	switch {
	case v.Kind() == value.KindDocument:
		if k, _ := v.Doc().First(); k == "" || k[0] != '$' {
			return nil, mongoerr.New(40147, "the sortByCount field must be defined as a $-prefixed path or an expression inside an object")
		}
	case v.Kind() == value.KindString:
		if v.Str() == "" || v.Str()[0] != '$' {
			return nil, mongoerr.New(40148, "the sortByCount field must be defined as a $-prefixed path or an expression inside an object")
		}
	default:
		return nil, mongoerr.New(40149, "the sortByCount field must be specified as a string or as an object")
	}
	one := value.Document(value.NewDoc("$sum", value.Int32(1)))
	group, err := Parse(p, value.Document(value.NewDoc("_id", v, "count", one)))
	if err != nil {
		return nil, err
	}
	sort, err := order.Parse(p, value.Document(value.NewDoc("count", value.Int32(-1))))
	return append(group, sort...), err
}
