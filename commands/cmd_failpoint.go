package commands

import (
	"math"
	"time"

	"github.com/duskdb/duskdb/mongoerr"
	"github.com/duskdb/duskdb/value"
)

// testCommands exist only in a server started with enableTestCommands, which is
// why fail points ask nobody to log in.
func testCommands() []command {
	enabled := func(s *Service) bool { return s.params.bool("enableTestCommands") }
	nothing := func(*Call) error { return nil }
	return []command{
		{name: "configureFailPoint", run: runConfigureFailPoint, flags: adminOnly | preAuth, enabled: enabled, help: "have commands fail, for tests"},
		{name: "testDeprecation", run: nothing, enabled: enabled, help: "do nothing; stands for a command that API version 1 deprecates"},
		{name: "testDeprecationInVersion2", run: nothing, enabled: enabled, help: "do nothing; stands for a command that API version 2 deprecates"},
		{name: "testRemoval", run: nothing, enabled: enabled, help: "do nothing; stands for a command that API version 2 drops"},
		{name: "testVersion2", run: nothing, enabled: enabled, help: "do nothing; stands for a command of API version 2"},
		{name: "testVersions1And2", run: nothing, enabled: enabled, help: "do nothing; stands for a command of API versions 1 and 2"},
		{name: "waitForFailPoint", run: runWaitForFailPoint, flags: adminOnly | preAuth, enabled: enabled, help: "wait until a fail point has taken effect"},
	}
}

// failPoint finds a fail point by its name.
func (s *Service) failPoint(name string) (*failPoint, error) {
	if f := s.failPoints.named(name); f != nil {
		return f, nil
	}
	return nil, mongoerr.Newf(mongoerr.FailPointSetFailed, "%s not found", name)
}

// runConfigureFailPoint sets a fail point; the reply tells how often it had
// taken effect so far.
func runConfigureFailPoint(c *Call) error {
	_, name := c.Body.First()
	if name.Kind() != value.KindString {
		return wrongType("configureFailPoint", "configureFailPoint", name, "string")
	}
	f, err := c.svc.failPoint(name.Str())
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
	c.reply.Int32("count", int32(f.set(mode, count, chance, data)))
	return nil
}

// SetFailPoint sets the fail point failCommand, for programs that embed the
// server, and returns how often it had taken effect so far.
func (s *Service) SetFailPoint(mode value.Value, data value.Doc) (entered int64, err error) {
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
	return s.failPoints.command.set(how, count, chance, parsed), nil
}

// parseFailMode reads "off", "alwaysOn", {times: n}, {skip: n} or
// {activationProbability: p}.
func parseFailMode(v value.Value) (mode failMode, count int64, chance float64, err error) {
	switch v.Kind() {
	case value.Missing:
		return 0, 0, 0, mongoerr.New(mongoerr.BadValue, "When setting a failpoint, you must supply a 'mode'")
	case value.KindString:
		switch v.Str() {
		case "off":
			return failOff, 0, 0, nil
		case "alwaysOn":
			return failAlways, 0, 0, nil
		}
		return 0, 0, 0, mongoerr.Newf(mongoerr.BadValue, "unknown mode: %s", v.Str())
	case value.KindDocument:
		return parseFailModeDoc(v.Doc())
	}
	return 0, 0, 0, mongoerr.New(mongoerr.TypeMismatch, "'mode' must be a string or JSON object")
}

func parseFailModeDoc(d value.Doc) (mode failMode, count int64, chance float64, err error) {
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
			return failSkip, n, 0, nil
		case n == 0:
			return failOff, 0, 0, nil
		}
		return failTimes, n, 0, nil
	case "activationProbability":
		if !v.IsNumber() {
			return 0, 0, 0, mongoerr.Newf(mongoerr.TypeMismatch, "the 'activationProbability' option to 'mode' must be a double between 0 and 1")
		}
		if p := v.AsDouble(); p >= 0 && p <= 1 {
			return failSometimes, 0, p, nil
		}
		return 0, 0, 0, mongoerr.Newf(mongoerr.BadValue, "activationProbability must be between 0.0 and 1.0; found %s", v)
	}
	return 0, 0, 0, mongoerr.New(mongoerr.BadValue, "'mode' must be one of 'off', 'alwaysOn', 'times', and 'activationProbability'")
}

// parseFailData reads the data of a fail point: what failCommand knows, and
// what the others have besides.
func parseFailData(v value.Value) (f failData, err error) {
	if v.IsMissing() {
		return f, nil
	}
	if v.Kind() != value.KindDocument {
		return f, mongoerr.New(mongoerr.TypeMismatch, "the 'data' option must be an object")
	}
	d := v.Doc().Clone()
	f = failData{
		doc: d, commands: map[string]bool{}, all: d.Lookup("failAllCommands").Truthy(), appName: d.Lookup("appName").Str(),
		threadName: d.Lookup("threadName").Str(), namespace: d.Lookup("namespace").Str(), closes: d.Lookup("closeConnection").Truthy(),
		extra: d.Lookup("errorExtraInfo").Doc(), concern: d.Lookup("writeConcernError").Doc(),
	}
	if v, ok := d.Get("closeConnection"); ok {
		f.stays = !v.Truthy()
	}
	if code := d.Lookup("failBeforeCommitExceptionCode"); code.IsNumber() {
		f.before = mongoerr.Code(code.SafeInt64())
	}
	for name := range d.Lookup("failCommands").Doc().Values() {
		f.commands[name.Str()] = true
	}
	if code := d.Lookup("errorCode"); !code.IsMissing() {
		if !code.IsNumber() {
			return f, mongoerr.New(mongoerr.TypeMismatch, "the 'errorCode' option of failCommand must be a number")
		}
		f.code = mongoerr.Code(code.SafeInt64())
	}
	if labels := d.Lookup("errorLabels"); labels.Kind() == value.KindArray {
		f.labels = []string{}
		for l := range labels.Doc().Values() {
			f.labels = append(f.labels, l.Str())
		}
	}
	if d.Lookup("blockConnection").Truthy() {
		ms := d.Lookup("blockTimeMS")
		if !ms.IsNumber() || ms.SafeInt64() < 0 {
			return f, mongoerr.New(mongoerr.InvalidOptions, "must specify 'blockTimeMS' when 'blockConnection' is true")
		}
		f.block = time.Duration(ms.SafeInt64()) * time.Millisecond
	}
	return f, nil
}

type waitForFailPointArgs struct {
	Name  string `arg:"waitForFailPoint,required"`
	Times int64  `arg:"timesEntered,required"`
}

var waitForFailPointSpec = newArgs[waitForFailPointArgs]("waitForFailPoint")

func runWaitForFailPoint(c *Call) error {
	var a waitForFailPointArgs
	if err := waitForFailPointSpec.decode(c.Body, &a); err != nil {
		return err
	}
	f, err := c.svc.failPoint(a.Name)
	if err != nil {
		return err
	}
	for {
		n, changed := f.timesEntered()
		if n >= a.Times {
			return nil
		}
		select {
		case <-changed:
		case <-c.ctx.Done():
			return c.interrupted()
		}
	}
}
