package gate

import (
	"strings"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/dialect"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// The options that create and collMod read in the same way.

const (
	maxViewStages = 1000             // internalPipelineLengthLimit
	maxViewBytes  = 16 * 1000 * 1000 // size of the pipeline of a view
)

// CheckOptionFields checks the enumerations and the pipeline of a view, from which it
// removes nulls. command is the name in messages.
func CheckOptionFields(c *kernel.Call, command string, pipeline *args.Array) error {
	if err := checkEnumerations(c.Body); err != nil {
		return err
	}
	if c.Body.Lookup("validationAction").Str() == "errorAndLog" && !c.Svc.Dialect().Has(dialect.ErrorAndLog) {
		return c.Svc.Dialect().Error(dialect.NoErrorAndLog)
	}
	if *pipeline == nil {
		return nil
	}
	stages, err := args.ArrayDocs(command, "pipeline", *pipeline)
	if err != nil {
		return err
	}
	values := make([]value.Value, len(stages))
	size := 0
	for i, d := range stages {
		values[i] = value.Document(d)
		size += len(d)
	}
	*pipeline = args.Array(value.NewArray(values...).Doc())
	switch {
	case len(stages) > maxViewStages:
		return mongoerr.Newf(7749501, "Pipeline length must be no longer than %d stages.", maxViewStages)
	case size > maxViewBytes:
		return mongoerr.Newf(mongoerr.ViewPipelineMaxSizeExceeded, "Operation on view exceeded the maximum pipeline size of %d bytes", maxViewBytes)
	}
	return nil
}

// checkEnumerations checks validationLevel, then validationAction.
func checkEnumerations(body value.Doc) error {
	for _, f := range []struct {
		name    string
		allowed map[string]bool
	}{{"validationLevel", ValidationLevels}, {"validationAction", ValidationActions}} {
		if v := body.Lookup(f.name); v.Kind() == value.KindString && (v.Str() == "" || !f.allowed[v.Str()]) {
			return mongoerr.Newf(mongoerr.BadValue, "Enumeration value '%s' for field '%s' is not a valid value.", v.Str(), f.name)
		}
	}
	return nil
}

// CheckStorageEngine checks {engine: {configString: "…"}}. mongod's engine is the
// only one whose options are known. They have no effect here, but options in dumps of
// mongod must be valid.
func CheckStorageEngine(d value.Doc) error {
	for engine, v := range d.All() {
		switch {
		case v.Kind() != value.KindDocument:
			return mongoerr.Newf(mongoerr.BadValue, "'storageEngine.%s' has to be an embedded document.", engine)
		case engine != "wiredTiger":
			return mongoerr.Newf(mongoerr.InvalidOptions, "%s is not a registered storage engine for this server", engine)
		}
		for name, option := range v.Doc().All() {
			if name != "configString" {
				return mongoerr.Newf(mongoerr.InvalidOptions, "'%s' is not a supported option in storageEngine.wiredTiger", name)
			}
			if err := checkEngineConfig(option); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkEngineConfig(v value.Value) error {
	switch {
	case v.Kind() != value.KindString:
		return mongoerr.New(mongoerr.TypeMismatch, "'configString' must be a string.")
	case strings.IndexByte(v.Str(), 0) >= 0:
		return mongoerr.New(mongoerr.FailedToParse, "malformed 'configString' value.")
	case strings.Contains(v.Str(), "type=lsm"):
		return mongoerr.New(6627201, "Configuration 'type=lsm' is not supported.")
	}
	depth, rest := 0, v.Str()
	for start, i := 0, 0; i <= len(rest); i++ {
		if i < len(rest) && rest[i] != ',' || depth > 0 && i < len(rest) {
			depth += strings.Count(rest[i:i+1], "(") - strings.Count(rest[i:i+1], ")")
			continue
		}
		key, _, _ := strings.Cut(strings.TrimSpace(rest[start:i]), "=")
		if start = i + 1; key != "" && !engineKeys[key] {
			return mongoerr.Newf(mongoerr.BadValue, "Invalid configuration string for wiredTiger: unknown configuration key '%s'", key)
		}
	}
	return nil
}

// engineKeys are the settings of a table of WiredTiger (WT_SESSION::create).
var engineKeys = func() map[string]bool {
	keys := map[string]bool{}
	for _, k := range strings.Fields(`access_pattern_hint allocation_size app_metadata assert block_allocation block_compressor
		cache_resident checksum colgroups collator columns dictionary encryption exclusive extractor format huffman_key huffman_value
		ignore_in_memory_cache_size immutable import internal_item_max internal_key_max internal_key_truncate internal_page_max
		key_format key_gap leaf_item_max leaf_key_max leaf_page_max leaf_value_max log lsm memory_page_image_max memory_page_max
		merge_custom merge_max os_cache_dirty_max os_cache_max prefix_compression prefix_compression_min readonly source
		split_deepen_min_child split_deepen_per_child split_pct tiered_object tiered_storage type value_format verbose
		write_timestamp_usage`) {
		keys[k] = true
	}
	return keys
}()

// What validationLevel and validationAction may be; "" is the default.
var (
	ValidationLevels  = map[string]bool{"": true, "off": true, "strict": true, "moderate": true}
	ValidationActions = map[string]bool{"": true, "error": true, "errorAndLog": true, "warn": true}
)

// ScaleOf reads the scale option of a command: sizes are divided by it.
func ScaleOf(command string, v value.Value) (int64, error) {
	if v.IsMissing() || v.Kind() == value.KindNull {
		return 1, nil
	}
	if !v.IsNumber() {
		return 0, args.WrongType(command, "scale", v, args.NumberTypes)
	}
	const maxScale = 1 << 50 // 1 PB
	switch n := v.SafeInt64(); {
	case n < 1:
		return 0, mongoerr.Newf(mongoerr.BadValue, "BSON field 'scale' value must be >= 1, actual value '%d'", n)
	case n > maxScale:
		return 0, mongoerr.Newf(mongoerr.BadValue, "BSON field 'scale' value must be <= %d, actual value '%d'", int64(maxScale), n)
	default:
		return n, nil
	}
}
