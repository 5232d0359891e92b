package commands

import (
	"github.com/duskdb/duskdb/index"
	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/storage"
	"github.com/duskdb/duskdb/value"
)

type validateDBMetadataArgs struct {
	Validate value.Value `arg:"validateDBMetadata"`
	Params   value.Doc   `arg:"apiParameters,required"`
	DB       string      `arg:"db"`
	Coll     string      `arg:"collection"`
}

type apiParametersArgs struct {
	Version string `arg:"version,required"`
	Strict  *bool  `arg:"strict"`
	Errors  *bool  `arg:"deprecationErrors"`
}

var (
	validateDBMetadataSpec = newArgs[validateDBMetadataArgs]("validateDBMetadata")
	apiParametersSpec      = newArgs[apiParametersArgs]("validateDBMetadata.apiParameters")
)

// unstableStages are the pipeline stages that version 1 of the stable API
// does not cover.
var unstableStages = map[string]bool{
	"$currentOp": true, "$indexStats": true, "$listLocalSessions": true, "$listSessions": true, "$planCacheStats": true,
	"$search": true, "$searchMeta": true, "$vectorSearch": true, "$collStats": true,
}

// runValidateDBMetadata lists the views and indexes that clients bound to the
// stable API cannot use.
func runValidateDBMetadata(c *Call) error {
	var a validateDBMetadataArgs
	if err := validateDBMetadataSpec.decode(c.Body, &a); err != nil {
		return err
	}
	var p apiParametersArgs
	if err := apiParametersSpec.decodeNested("validateDBMetadata.apiParameters", a.Params, &p); err != nil {
		return err
	}
	if p.Version != "1" {
		return mongoerr.New(mongoerr.APIVersionError, "API version must be \"1\"")
	}
	strict := p.Strict != nil && *p.Strict
	return c.view(func(tx storage.Tx) error {
		c.reply.StartArray("apiVersionErrors")
		for _, info := range tx.Collections(a.DB) {
			if strict && (a.Coll == "" || a.Coll == info.Namespace.Coll) && !hiddenCollection(info.Namespace) {
				c.appendUnstable(info)
			}
		}
		c.reply.End()
		return nil
	})
}

// appendUnstable writes what of a collection is outside the stable API.
func (c *Call) appendUnstable(info *storage.Info) {
	report := func(code mongoerr.Code, text string) {
		c.reply.StartDocument("").String("ns", info.Namespace.String()).Int32("code", int32(code)).
			String("codeName", code.Name()).String("errmsg", text).End()
	}
	m := metaOf(info)
	for stage := range m.pipeline.Values() {
		if name, _ := stage.Doc().First(); unstableStages[name] {
			report(mongoerr.APIStrictError, "stage "+name+" is not allowed with 'apiStrict: true' in API Version 1")
		}
	}
	for _, spec := range m.indexes {
		d := spec.Doc()
		if spec.Kind == index.Text || d.Lookup("sparse").Truthy() || d.Has("storageEngine") {
			report(mongoerr.APIStrictError, "The index with name "+spec.Name+" is not allowed in API version 1.")
		}
	}
}
