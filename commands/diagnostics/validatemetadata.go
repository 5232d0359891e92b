package diagnostics

import (
	"strings"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/catalog"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/pipeline"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/index"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

type validateDBMetadataArgs struct {
	Validate value.Value `arg:"validateDBMetadata"`
	Params   value.Doc   `arg:"apiParameters,required"`
	DB       *string     `arg:"db"`
	Coll     *string     `arg:"collection"`
}

type apiParametersArgs struct {
	Version string      `arg:"version,required"`
	Strict  value.Value `arg:"strict"`
	Errors  value.Value `arg:"deprecationErrors"`
}

var (
	validateDBMetadataSpec = args.New[validateDBMetadataArgs]("validateDBMetadata")
	apiParametersSpec      = args.New[apiParametersArgs]("validateDBMetadata.apiParameters")
)

// unstableStages are the pipeline stages that version 1 of the stable API
// does not cover.
var unstableStages = map[string]bool{
	"$currentOp": true, "$indexStats": true, "$listLocalSessions": true, "$listSessions": true, "$planCacheStats": true,
	"$search": true, "$searchMeta": true, "$vectorSearch": true, "$collStats": true,
}

// runValidateDBMetadata lists the views and indexes that clients bound to the
// stable API cannot use.
func runValidateDBMetadata(c *kernel.Call) error {
	var a validateDBMetadataArgs
	if err := validateDBMetadataSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	var p apiParametersArgs
	if err := apiParametersSpec.DecodeNested("validateDBMetadata.apiParameters", a.Params, &p); err != nil {
		return err
	}
	for _, name := range []string{"strict", "deprecationErrors"} { // null is refused here
		if v, given := a.Params.Get(name); given && v.Kind() != value.KindBool {
			return mongoerr.Newf(mongoerr.TypeMismatch, "Field '%s' should be a boolean value, but found: %s", name, v.Kind())
		}
	}
	db, coll, err := a.names()
	if err != nil {
		return err
	}
	strict := p.Strict.Bool() && p.Version == "1" // other versions are not checked
	var infos []*storage.Info
	err = c.View(func(tx storage.Tx) (err error) {
		infos, err = catalog.List(tx, db)
		return err
	})
	if err != nil {
		return err
	}
	c.Reply.StartArray("apiVersionErrors")
	for _, info := range infos {
		if strict && (coll == "" || coll == info.Namespace.Coll) && !pipeline.HiddenCollection(info.Namespace) {
			appendUnstable(c, info)
		}
	}
	c.Reply.End()
	return nil
}

// names returns the database and the collection to check; "": all.
func (a *validateDBMetadataArgs) names() (db, coll string, err error) {
	if a.DB != nil {
		db = *a.DB
		switch {
		case db == "":
			return db, coll, mongoerr.New(28539, "db name is empty")
		case strings.ContainsAny(db, ".\x00") || len(db) > catalog.MaxDatabaseName:
			return db, coll, mongoerr.Newf(mongoerr.InvalidNamespace, "Invalid database name specified '%s'", db)
		case strings.ContainsAny(db, "/\\ \""):
			return db, coll, mongoerr.Newf(13280, "Invalid db name: %s", db)
		}
	}
	if a.Coll != nil {
		coll = *a.Coll
		if coll == "" || coll[0] == '.' || strings.IndexByte(coll, 0) >= 0 {
			return db, coll, mongoerr.Newf(mongoerr.InvalidNamespace, "Invalid collection name specified '%s.%s'", db, coll)
		}
	}
	return db, coll, nil
}

// appendUnstable writes the parts of a collection that are not in the stable API.
func appendUnstable(c *kernel.Call, info *storage.Info) {
	report := func(code mongoerr.Code, text string) {
		c.Reply.StartDocument("").String("ns", info.Namespace.String()).Int32("code", int32(code)).
			String("codeName", code.Name()).String("errmsg", text).End()
	}
	m := catalog.Of(info)
	for stage := range m.Pipeline.Values() {
		if name, _ := stage.Doc().First(); unstableStages[name] {
			report(mongoerr.APIStrictError, "stage "+name+" is not allowed with 'apiStrict: true' in API Version 1")
		}
	}
	for _, spec := range m.Indexes {
		d := spec.Doc()
		if spec.Kind == index.Text || d.Lookup("sparse").Truthy() || d.Has("storageEngine") {
			report(mongoerr.APIStrictError, "The index with name "+spec.Name+" is not allowed in API version 1.")
		}
	}
}
