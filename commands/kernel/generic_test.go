package kernel_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
)

// Invalid generic arguments are refused as in mongod's IDL.
func TestRefusedGenericArguments(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	for command, code := range map[string]int32{
		`{ping: 1, lsid: 1}`:                                                   14,
		`{ping: 1, maxTimeMS: "x"}`:                                            14,
		`{ping: 1, maxTimeMS: -1}`:                                             2,
		`{ping: 1, maxTimeMS: 2147483648}`:                                     2,
		`{ping: 1, maxTimeMS: 1.5}`:                                            9,
		`{find: "c", readConcern: 1}`:                                          14,
		`{find: "c", readConcern: {level: 1}}`:                                 14,
		`{find: "c", readConcern: {level: "most"}}`:                            2,
		`{find: "c", readConcern: {lvl: "local"}}`:                             40415,
		`{find: "c", readConcern: {afterClusterTime: 1}}`:                      14,
		`{insert: "c", documents: [{}], writeConcern: 1}`:                      14,
		`{insert: "c", documents: [{}], writeConcern: {w: -1}}`:                9,
		`{insert: "c", documents: [{}], writeConcern: {w: 51}}`:                9,
		`{insert: "c", documents: [{}], writeConcern: {w: true}}`:              9,
		`{insert: "c", documents: [{}], writeConcern: {w: {}}}`:                9,
		`{insert: "c", documents: [{}], writeConcern: {w: {dc: "x"}}}`:         9,
		`{insert: "c", documents: [{}], writeConcern: {j: "x"}}`:               14,
		`{insert: "c", documents: [{}], writeConcern: {j: true, fsync: true}}`: 9,
		`{insert: "c", documents: [{}], writeConcern: {x: 1}}`:                 40415,
		`{insert: "c", documents: [{}], writeConcern: {wtimeout: 3000000000}}`: 9,
		`{insert: "c", documents: [{}], writeConcern: {provenance: "x"}}`:      2,
	} {
		h.Fails(code, command)
	}
}

// null counts as absent, as in mongod's IDL.
func TestGenericArgumentsThatAreNull(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	h.OK(`{find: "c", maxTimeMS: null, readConcern: null, lsid: null}`)
	h.OK(`{insert: "c", documents: [{}], writeConcern: {j: null, provenance: null}}`)
	h.OK(`{find: "c", readConcern: {level: null}}`)
}

// setParameter's start-up values are text that is read as the type of the parameter.
func TestParametersAtStartup(t *testing.T) {
	t.Parallel()
	h := harness.NewWith(t, kernel.Options{Parameters: map[string]string{"ttlMonitorSleepSecs": "7", "ttlMonitorEnabled": "false"}})
	if got := h.Svc.Params.Int("ttlMonitorSleepSecs"); got != 7 {
		t.Errorf("ttlMonitorSleepSecs is %d", got)
	}
	if h.Svc.Params.Bool("ttlMonitorEnabled") {
		t.Error("ttlMonitorEnabled is true")
	}
	for name, text := range map[string]string{"noSuchParameter": "1", "ttlMonitorSleepSecs": "x"} {
		if err := h.Svc.Params.Load(map[string]string{name: text}); err == nil {
			t.Errorf("%s=%s is accepted", name, text)
		}
	}
}
