package pipeline

import (
	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// ValidateArgs are the arguments of validate.
type ValidateArgs struct {
	Validate   value.Value  `arg:"validate,required"`
	Full       args.AnyBool `arg:"full"`
	Background args.AnyBool `arg:"background"`
	FastCount  args.AnyBool `arg:"enforceFastCount"`
	Repair     args.AnyBool `arg:"repair"`
	Metadata   args.AnyBool `arg:"metadata"`
	Conforms   args.AnyBool `arg:"checkBSONConformance"`
	Multikey   args.AnyBool `arg:"fixMultikey"`
}

// ValidateSpec decodes ValidateArgs. Unknown fields are ignored, as by mongod;
// drivers send some.
var ValidateSpec = args.New[ValidateArgs]("validate").Lenient()

// Check refuses combinations of options, in mongod's order. The options that
// remain change nothing: validate always checks everything.
func (a *ValidateArgs) Check(c *kernel.Call) error {
	const begins = "Running the validate command with "
	for _, x := range []struct {
		bad bool
		why string
	}{
		{bool(a.Background && a.Full), "both { background: true } and { full: true } is not supported."},
		{bool(a.Background && a.FastCount), "both { background: true } and { enforceFastCount: true } is not supported."},
		{bool(a.Background && a.Repair), "both { background: true } and { repair: true } is not supported."},
		{bool(a.Metadata && (a.Background || a.Full || a.FastCount || a.Repair || a.Conforms)), "{ metadata: true } is not supported with any other options"},
		{bool(a.Conforms && a.Repair), "both { checkBSONConformance: true } and { repair: true } is not supported."},
		{bool(a.Repair) && c.Svc.Replicated(), "{ repair: true } can only be performed in standalone mode."},
	} {
		if x.bad {
			return mongoerr.New(mongoerr.InvalidOptions, begins+x.why)
		}
	}
	if bool(a.Background) && !c.Svc.Replicated() {
		return mongoerr.New(mongoerr.CommandNotSupported, begins+"{ background: true } is not supported in standalone mode.")
	}
	return nil
}

// RepairMode returns the mode that validate reports. There is never anything to
// repair, since indexes are built from the documents at every start.
func (a *ValidateArgs) RepairMode() string {
	switch {
	case bool(a.Repair):
		return "FixErrors"
	case bool(a.Multikey):
		return "AdjustMultikey"
	}
	return "None"
}

// MaxProblems is how many problems validate names.
const MaxProblems = 20
