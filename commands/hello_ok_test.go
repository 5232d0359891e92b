package commands_test

import (
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
)

// helloOk is answered to those who ask for it.
func TestHelloOk(t *testing.T) {
	h := harness.New(t)
	for command, want := range map[string]string{
		`{hello: 1}`: "", `{isMaster: 1}`: "", `{isMaster: 1, helloOk: false}`: "",
		`{isMaster: 1, helloOk: true}`: "true", `{hello: 1, helloOk: true}`: "true",
	} {
		got := ""
		if v := h.Admin(command).Lookup("helloOk"); !v.IsMissing() {
			got = v.String()
		}
		if got != want {
			t.Errorf("%s: helloOk is %q, want %q", command, got, want)
		}
	}
}
