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
		"bool": kernel.CheckBool, "diagnostics": kernel.CheckNoDiagnosticData,
		"int": kernel.CheckInt("p", -1, 5), "text": kernel.CheckString("p"), "one of": kernel.CheckString("p", "a", "b"),
	}
	for _, tt := range []struct{ check, v, want, err string }{
		{"bool", `1`, `true`, ""},
		{"bool", `0`, `false`, ""},
		{"bool", `"x"`, `true`, ""}, // as BSONElement::trueValue has it
		{"diagnostics", `false`, `false`, ""},
		{"diagnostics", `1`, ``, "BadValue: Invalid value for parameter diagnosticDataCollectionEnabled: no diagnostic data is collected"},
		{"int", `5`, `5`, ""},
		{"int", `-1.7`, `-1`, ""},
		{"int", `-2`, ``, "BadValue: Invalid value for parameter p: -2 is not greater than or equal to -1"},
		{"int", `6`, ``, "BadValue: Invalid value for parameter p: 6 is not less than or equal to 5"},
		{"int", `{"$numberDouble": "NaN"}`, ``, "BadValue: Invalid value for parameter p: 0 is not greater than or equal to -1"},
		{"text", `"any"`, `"any"`, ""},
		{"text", `1`, ``, "TypeMismatch: Expected type string for parameter 'p', got int"},
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
		"notablescan": `true`, "syncdelay": `12`, "ingressConnectionEstablishmentBurstCapacitySecs": `1.5`, "processUmask": `"077"`, "logLevel": `2`,
		"ingressConnectionEstablishmentRateLimiterBypass": `{ ranges: [ "10.0.0.0/8" ] }`,
	} {
		if got := h.Svc.Params.Value(name).String(); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	for name, want := range map[string]string{
		"notablescan":       `BadValue: Bad value for parameter "notablescan": "perhaps" is no bool`,
		"authSchemaVersion": `BadValue: Cannot use --setParameter to set 'authSchemaVersion' at startup`,
		"noSuch":            `BadValue: Unknown --setParameter 'noSuch'`,
		"syncdelay":         `BadValue: Invalid value for parameter syncdelay: "perhaps" is not a number`,
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
