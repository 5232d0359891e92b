package diagnostics

import (
	"math"
	"time"

	"github.com/duskdb/duskdb/commands/args"
	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/observe"
	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// failPoint finds a fail point by its name.
func failPoint(s *kernel.Service, name string) (*observe.FailPoint, error) {
	if f := s.FailPoints.Named(name); f != nil {
		return f, nil
	}
	return nil, mongoerr.Newf(mongoerr.FailPointSetFailed, "%s not found", name)
}

// runConfigureFailPoint sets a fail point; the reply says how often it had
// taken effect so far.
func runConfigureFailPoint(c *kernel.Call) error {
	_, name := c.Body.First()
	if name.Kind() != value.KindString {
		return args.WrongType("configureFailPoint", "configureFailPoint", name, "string")
	}
	f, err := failPoint(c.Svc, name.Str())
	if err != nil {
		return err
	}
	mode, count, chance, err := parseFailMode(c.Body.Lookup("mode"))
	if err != nil {
		return err
	}
	data, err := parseFailData(c.Body.Lookup("data"))
	if err != nil {
		return err
	}
	c.Reply.Int32("count", int32(f.Set(mode, count, chance, data)))
	return nil
}

// SetFailPoint sets the fail point failCommand, for programs that embed the
// server, and returns how often it had taken effect so far.
func SetFailPoint(s *kernel.Service, mode value.Value, data value.Doc) (entered int64, err error) {
	how, count, chance, err := parseFailMode(mode)
	if err != nil {
		return 0, err
	}
	what := value.Value{}
	if data != nil {
		what = value.Document(data)
	}
	parsed, err := parseFailData(what)
	if err != nil {
		return 0, err
	}
	return s.FailPoints.Command.Set(how, count, chance, parsed), nil
}

// parseFailMode reads "off", "alwaysOn", {times: n}, {skip: n} or
// {activationProbability: p}.
func parseFailMode(v value.Value) (mode observe.FailMode, count int64, chance float64, err error) {
	switch v.Kind() {
	case value.Missing:
		return 0, 0, 0, mongoerr.New(mongoerr.BadValue, "When setting a failpoint, you must supply a 'mode'")
	case value.KindString:
		switch v.Str() {
		case "off":
			return observe.FailOff, 0, 0, nil
		case "alwaysOn":
			return observe.FailAlways, 0, 0, nil
		}
		return 0, 0, 0, mongoerr.Newf(mongoerr.BadValue, "unknown mode: %s", v.Str())
	case value.KindDocument:
		return parseFailModeDoc(v.Doc())
	}
	return 0, 0, 0, mongoerr.New(mongoerr.TypeMismatch, "'mode' must be a string or JSON object")
}

func parseFailModeDoc(d value.Doc) (mode observe.FailMode, count int64, chance float64, err error) {
	name, v := d.First()
	switch name {
	case "times", "skip":
		if !v.IsNumber() {
			return 0, 0, 0, mongoerr.Newf(mongoerr.TypeMismatch, "'%s' option to 'mode' must be a number", name)
		}
		n := v.SafeInt64()
		switch {
		case n < 0:
			return 0, 0, 0, mongoerr.Newf(mongoerr.BadValue, "'%s' option to 'mode' must be positive", name)
		case n > math.MaxInt32:
			return 0, 0, 0, mongoerr.Newf(mongoerr.BadValue, "'%s' option to 'mode' is too large", name)
		case name == "skip":
			return observe.FailSkip, n, 0, nil
		case n == 0:
			return observe.FailOff, 0, 0, nil
		}
		return observe.FailTimes, n, 0, nil
	case "activationProbability":
		if !v.IsNumber() {
			return 0, 0, 0, mongoerr.Newf(mongoerr.TypeMismatch, "the 'activationProbability' option to 'mode' must be a double between 0 and 1")
		}
		if p := v.AsDouble(); p >= 0 && p <= 1 {
			return observe.FailSometimes, 0, p, nil
		}
		return 0, 0, 0, mongoerr.Newf(mongoerr.BadValue, "activationProbability must be between 0.0 and 1.0; found %s", v)
	}
	return 0, 0, 0, mongoerr.New(mongoerr.BadValue, "'mode' must be one of 'off', 'alwaysOn', 'times', and 'activationProbability'")
}

// parseFailData reads the data of a fail point: what failCommand knows, and
// what the others have besides.
func parseFailData(v value.Value) (f observe.FailData, err error) {
	if v.IsMissing() {
		return f, nil
	}
	if v.Kind() != value.KindDocument {
		return f, mongoerr.New(mongoerr.TypeMismatch, "the 'data' option must be an object")
	}
	d := v.Doc().Clone()
	f = observe.FailData{
		Commands: map[string]bool{}, All: d.Lookup("failAllCommands").Truthy(), AppName: d.Lookup("appName").Str(),
		ThreadName: d.Lookup("threadName").Str(), Namespace: d.Lookup("namespace").Str(), Closes: d.Lookup("closeConnection").Truthy(),
		Extra: d.Lookup("errorExtraInfo").Doc(), Concern: d.Lookup("writeConcernError").Doc(),
		Chance: d.Lookup("chance").AsDouble(),
	}
	if v, ok := d.Get("closeConnection"); ok {
		f.Stays = !v.Truthy()
	}
	if code := d.Lookup("failBeforeCommitExceptionCode"); code.IsNumber() {
		f.Before = mongoerr.Code(code.SafeInt64())
	}
	for name := range d.Lookup("failCommands").Doc().Values() {
		f.Commands[name.Str()] = true
	}
	if code := d.Lookup("errorCode"); !code.IsMissing() {
		if !code.IsNumber() {
			return f, mongoerr.New(mongoerr.TypeMismatch, "the 'errorCode' option of failCommand must be a number")
		}
		f.Code = mongoerr.Code(code.SafeInt64())
	}
	if labels := d.Lookup("errorLabels"); labels.Kind() == value.KindArray {
		f.Labels = []string{}
		for l := range labels.Doc().Values() {
			f.Labels = append(f.Labels, l.Str())
		}
	}
	if d.Lookup("blockConnection").Truthy() {
		ms := d.Lookup("blockTimeMS")
		if !ms.IsNumber() || ms.SafeInt64() < 0 {
			return f, mongoerr.New(mongoerr.InvalidOptions, "must specify 'blockTimeMS' when 'blockConnection' is true")
		}
		f.Block = time.Duration(ms.SafeInt64()) * time.Millisecond
	}
	return f, nil
}

type waitForFailPointArgs struct {
	Name  string `arg:"waitForFailPoint,required"`
	Times int64  `arg:"timesEntered,required"`
}

var waitForFailPointSpec = args.New[waitForFailPointArgs]("waitForFailPoint")

func runWaitForFailPoint(c *kernel.Call) error {
	var a waitForFailPointArgs
	if err := waitForFailPointSpec.Decode(c.Body, &a); err != nil {
		return err
	}
	f, err := failPoint(c.Svc, a.Name)
	if err != nil {
		return err
	}
	for {
		n, changed := f.TimesEntered()
		if n >= a.Times {
			return nil
		}
		select {
		case <-changed:
		case <-c.Ctx.Done():
			return c.Interrupted()
		}
	}
}
