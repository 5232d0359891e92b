package kernel_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/value"
)

func TestChecksOfParameters(t *testing.T) {
	t.Parallel()
	check := map[string]func(value.Value) (value.Value, error){
		"bool": kernel.CheckBool, "document": kernel.CheckDocument("p"),
		"int": kernel.CheckInt("p", -1, 5), "above": kernel.CheckInt32("p", kernel.GreaterThan(0)), "below": kernel.CheckInt64("p", kernel.LessThan(1<<40)),
		"double": kernel.CheckDouble("p", kernel.AtLeast(0.5), kernel.AtMost(1)),
		"text":   kernel.CheckString("p"), "one of": kernel.CheckString("p", "a", "b"),
	}
	for _, tt := range []struct{ check, v, want, err string }{
		{"bool", `1`, `true`, ""},
		{"bool", `0`, `false`, ""},
		{"bool", `"x"`, `true`, ""}, // as BSONElement::trueValue has it
		{"document", `{}`, `{}`, ""},
		{"document", `1`, ``, "BadValue: Failed validating p: Unable to coerce value to correct type"},
		{"int", `5`, `5`, ""},
		{"int", `true`, `1`, ""},
		{"int", `-1.7`, `-1`, ""},
		{"int", `-2`, ``, "BadValue: Invalid value for parameter p: -2 is not greater than or equal to -1"},
		{"int", `6`, ``, "BadValue: Invalid value for parameter p: 6 is not less than or equal to 5"},
		{"int", `"5"`, ``, "BadValue: Failed validating p: Unable to coerce value to integral type"},
		{"int", `{"$numberDouble": "NaN"}`, ``, "BadValue: Failed validating p: Unable to coerce NaN/Inf to integral type"},
		{"int", `{"$numberDouble": "Infinity"}`, ``, "BadValue: Failed validating p: Unable to coerce NaN/Inf to integral type"},
		{"int", `{"$numberLong": "2147483648"}`, ``, "BadValue: Failed validating p: Out of bounds coercing to integral value"},
		{"int", `1e300`, ``, "BadValue: Failed validating p: Out of bounds coercing to integral value"},
		{"above", `0`, ``, "BadValue: Invalid value for parameter p: 0 is not greater than 0"},
		{"below", `{"$numberLong": "1099511627775"}`, `1099511627775`, ""},
		{"below", `{"$numberLong": "1099511627776"}`, ``, "BadValue: Invalid value for parameter p: 1099511627776 is not less than 1099511627776"},
		{"below", `1e300`, ``, "BadValue: Failed validating p: Out of bounds coercing to integral value"},
		{"double", `1`, `1.0`, ""},
		{"double", `0.25`, ``, "BadValue: Invalid value for parameter p: 0.25 is not greater than or equal to 0.5"},
		{"double", `1.5`, ``, "BadValue: Invalid value for parameter p: 1.5 is not less than or equal to 1"},
		{"double", `"1"`, ``, "BadValue: Failed validating p: Unable to coerce value to correct type"},
		{"text", `"any"`, `"any"`, ""},
		{"text", `1`, ``, "BadValue: Failed validating p: Unable to coerce value to correct type"},
		{"one of", `"b"`, `"b"`, ""},
		{"one of", `"c"`, ``, "BadValue: Invalid value for parameter p: 'c' is not one of a, b"},
	} {
		v, err := check[tt.check](value.MustJSON(`{"v": ` + tt.v + `}`).Lookup("v"))
		said := ""
		if err != nil {
			said = err.Error()
		}
		if said != tt.err || err == nil && v.String() != tt.want {
			t.Errorf("%s of %s: %s, %q; want %s, %q", tt.check, tt.v, v, said, tt.want, tt.err)
		}
	}
}

// Text of the command line is read as the parameter's type; documents may have keys
// without quotes.
func TestTextOfParameters(t *testing.T) {
	t.Parallel()
	h := harness.NewWith(t, kernel.Options{Parameters: map[string]string{
		"notablescan": "1", "syncdelay": "12", "ingressConnectionEstablishmentBurstCapacitySecs": "1.5", "processUmask": "077",
		"logLevel": "2",
		"ingressConnectionEstablishmentRateLimiterBypass": `{ranges: ["10.0.0.0/8"]}`,
	}})
	for name, want := range map[string]string{
		"notablescan": `true`, "syncdelay": `12.0`, "ingressConnectionEstablishmentBurstCapacitySecs": `1.5`, "processUmask": `"077"`, "logLevel": `2`,
		"ingressConnectionEstablishmentRateLimiterBypass": `{ ranges: [ "10.0.0.0/8" ] }`,
	} {
		if got := h.Svc.Params.Value(name).String(); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	for name, want := range map[string]string{
		"notablescan":               `BadValue: Bad value for parameter "notablescan": Value is not a valid boolean`,
		"authSchemaVersion":         `BadValue: Cannot use --setParameter to set "authSchemaVersion" at startup`,
		"noSuch":                    `BadValue: Unknown --setParameter 'noSuch'`,
		"notablescn":                `BadValue: Unknown --setParameter 'notablescn', did you mean notablescan?`,
		"auditAuthorizationSuccess": `BadValue: Unknown --setParameter 'auditAuthorizationSuccess': MongoDB Enterprise has it`,
		"internalQueryDefaultDOP":   `BadValue: --setParameter 'internalQueryDefaultDOP' only available when used with 'enableTestCommands'`,
		"syncdelay":                 `BadValue: Bad value for parameter "syncdelay": "perhaps" is not a number`,
		"planRankerMode":            `BadValue: Bad value for parameter "planRankerMode": Invalid value for parameter planRankerMode: 'perhaps' is not one of automaticCE, exactCE, histogramCE, samplingCE, heuristicCE, multiPlanning`,
	} {
		if err := h.Svc.Params.Load(map[string]string{name: "perhaps"}); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

// logLevel and logComponentVerbosity are two views of the same levels.
func TestLogLevels(t *testing.T) {
	t.Parallel()
	h := harness.New(t)
	get := func(name string) value.Value { return h.Admin(`{getParameter: 1, ` + name + `: 1}`).Lookup(name) }
	h.Admin(`{setParameter: 1, logComponentVerbosity: {verbosity: 1, query: {verbosity: 3}}}`)
	if got := get("logLevel").String(); got != "1" {
		t.Errorf("logLevel is %s", got)
	}
	h.Admin(`{setParameter: 1, logLevel: 2}`)
	d := get("logComponentVerbosity").Doc()
	if got := d.Lookup("verbosity").String(); got != "2" || d.Lookup("query").Doc().Lookup("verbosity").String() != "3" {
		t.Errorf("logComponentVerbosity is %s", d)
	}
}
