package parameters_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/parameters"
)

// A line of the table has all its options, below the latest reason.
func TestParseNoEffect(t *testing.T) {
	t.Parallel()
	list := parameters.ParseNoEffect("# comment\n\n[a reason]\nsize start int 2Mi >=1 <3Ki formerly:old fortests\n\n[another]\nmode never string \"\" in:|x\n")
	if len(list) != 2 || list[0].NoEffect != "a reason" || list[1].NoEffect != "another" {
		t.Fatalf("%+v", list)
	}
	size := list[0]
	if size.Initial.SafeInt64() != 2<<20 || !size.Startup || size.Runtime || size.Former != "old" || !size.TestOnly {
		t.Errorf("%+v", size)
	}
	if _, err := size.Check(size.Initial); fmt.Sprint(err) != "BadValue: Invalid value for parameter size: 2097152 is not less than 3072" {
		t.Error(err)
	}
	if _, err := list[1].Check(list[1].Initial); err != nil {
		t.Error(err)
	}
}

// A mistake in the table ends the program.
func TestParseNoEffectMistakes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a sometimes int 1":     "parameter a cannot be set sometimes",
		"a always number 1":     "parameter a is a number",
		"a always int 1 after":  "option of a parameter: after",
		"a always int one":      "invalid syntax",
		"a always long 1 >=one": "invalid syntax",
	} {
		func() {
			defer func() {
				if said := fmt.Sprint(recover()); !strings.Contains(said, want) {
					t.Errorf("%s: panicked with %s, want %s", text, said, want)
				}
			}()
			parameters.ParseNoEffect(text)
		}()
	}
}
