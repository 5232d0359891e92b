package servertest_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/duskdb/duskdb/internal/relaxed"
	"github.com/duskdb/duskdb/servertest"
)

// scene is a server with a real driver connected to it. Its methods take commands as
// extended JSON with bare field names, in which d(10) is the date ten seconds after the
// start.
type scene struct {
	testing.TB
	srv    *servertest.Server
	client *mongo.Client
	db     *mongo.Database
}

func newScene(t testing.TB, opts ...servertest.Option) *scene {
	t.Helper()
	return connect(t, servertest.Run(t, append([]servertest.Option{servertest.At(servertest.Start)}, opts...)...))
}

func connect(t testing.TB, srv *servertest.Server) *scene {
	t.Helper()
	client, err := mongo.Connect(options.Client().ApplyURI(srv.URI()).SetServerMonitoringMode("poll").SetMaxPoolSize(2 * openStreams))
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{TB: t, srv: srv, client: client, db: client.Database("db")}
	t.Cleanup(s.leave)
	return s
}

// leave disconnects the driver before its server stops; otherwise the driver would try
// to reconnect.
func (s *scene) leave() { _ = s.client.Disconnect(context.Background()) }

var dateCall = regexp.MustCompile(`\bd\((-?[\d.]+)\)`)

// parse reads a command.
func (s *scene) parse(text string, args ...any) bson.D {
	s.Helper()
	if len(args) > 0 {
		text = fmt.Sprintf(text, args...)
	}
	text = dateCall.ReplaceAllStringFunc(text, func(m string) string {
		seconds, _ := strconv.ParseFloat(m[2:len(m)-1], 64)
		return fmt.Sprintf(`{"$date": {"$numberLong": "%d"}}`, at(seconds).UnixMilli())
	})
	text = relaxed.JSON(text)
	var d bson.D
	if err := bson.UnmarshalExtJSON([]byte(text), false, &d); err != nil {
		s.Fatalf("%s: %v", text, err)
	}
	return d
}

// at returns the time so many seconds after the start.
func at(seconds float64) time.Time {
	return servertest.Start.Add(time.Duration(math.Round(seconds*1000)) * time.Millisecond)
}

// run runs a command.
func (s *scene) run(text string, args ...any) (bson.Raw, error) {
	s.Helper()
	return s.db.RunCommand(s.Context(), s.parse(text, args...)).Raw()
}

// ok runs a command that must succeed.
func (s *scene) ok(text string, args ...any) bson.Raw {
	s.Helper()
	r, err := s.run(text, args...)
	if err != nil {
		s.Fatalf("%s: %v", short(text), err)
	}
	return r
}

// admin runs a command on admin that must succeed.
func (s *scene) admin(text string, args ...any) bson.Raw {
	s.Helper()
	r, err := s.client.Database("admin").RunCommand(s.Context(), s.parse(text, args...)).Raw()
	if err != nil {
		s.Fatalf("%s: %v", short(text), err)
	}
	return r
}

// fails runs a command that must fail with a code and a fragment of text.
func (s *scene) fails(code int, fragment, text string, args ...any) {
	s.Helper()
	_, err := s.run(text, args...)
	s.failed(code, fragment, text, err)
}

// adminFails is fails on admin.
func (s *scene) adminFails(code int, fragment, text string) {
	s.Helper()
	_, err := s.client.Database("admin").RunCommand(s.Context(), s.parse(text)).Raw()
	s.failed(code, fragment, text, err)
}

func (s *scene) failed(code int, fragment, text string, err error) {
	s.Helper()
	var e mongo.ServerError
	if !errors.As(err, &e) {
		s.Errorf("%s: %v, want code %d", short(text), err, code)
		return
	}
	if !e.HasErrorCode(code) || !strings.Contains(err.Error(), fragment) {
		s.Errorf("%s: %v (codes %v), want %d %q", short(text), err, e.ErrorCodes(), code, fragment)
	}
}

// to moves the clock to so many seconds after the start; no pass runs.
func (s *scene) to(seconds float64) {
	s.Helper()
	s.admin(fmt.Sprintf(`{testClock: 1, set: d(%v), runDuePasses: false}`, strconv.FormatFloat(seconds, 'f', 3, 64)))
}

// pass runs an expiration pass.
func (s *scene) pass() bson.Raw {
	s.Helper()
	return s.admin(`{runExpirationPass: 1}`)
}

// status reads a number of serverStatus.
func (s *scene) status(path string) int64 {
	s.Helper()
	return number(s.admin(`{serverStatus: 1}`).Lookup(strings.Split(path, ".")...))
}

// found returns the _ids that a find returns, in order, as text.
func (s *scene) found(coll string) string {
	s.Helper()
	cur, err := s.db.Collection(coll).Find(s.Context(), bson.D{}, options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}))
	if err != nil {
		s.Fatal(err)
	}
	var ids []string
	for cur.Next(s.Context()) {
		id := cur.Current.Lookup("_id")
		if n, ok := id.AsInt64OK(); ok {
			ids = append(ids, strconv.FormatInt(n, 10))
		} else {
			ids = append(ids, id.String())
		}
	}
	if err := cur.Err(); err != nil {
		s.Fatal(err)
	}
	return strings.Join(ids, " ")
}

// sees checks which _ids a collection shows.
func (s *scene) sees(want, coll string) {
	s.Helper()
	if got := s.found(coll); got != want {
		s.Errorf("%s shows [%s], want [%s]", coll, got, want)
	}
}

// first returns the first document of a find command, or nil.
func (s *scene) first(text string, args ...any) bson.Raw {
	s.Helper()
	docs := s.batch(text, args...)
	if len(docs) == 0 {
		return nil
	}
	return docs[0]
}

// batch returns the documents of the first batch of a cursor.
func (s *scene) batch(text string, args ...any) []bson.Raw {
	s.Helper()
	return elements(s.ok(text, args...).Lookup("cursor", "firstBatch"))
}

// messages returns the messages of a receive or a peek.
func (s *scene) messages(text string, args ...any) []bson.Raw {
	s.Helper()
	return elements(s.ok(text, args...).Lookup("messages"))
}

// index returns the entry of listIndexes, or nil.
func (s *scene) index(coll, name string) bson.Raw {
	s.Helper()
	list := s.batch(`{listIndexes: %q}`, coll)
	i := slices.IndexFunc(list, func(d bson.Raw) bool { return d.Lookup("name").StringValue() == name })
	if i < 0 {
		return nil
	}
	return list[i]
}

// listed returns the entry of listCollections.
func (s *scene) listed(coll string) bson.Raw {
	s.Helper()
	return s.first(`{listCollections: 1, filter: {name: %q}}`, coll)
}

func elements(v bson.RawValue) (docs []bson.Raw) {
	a, ok := v.ArrayOK()
	if !ok {
		return nil
	}
	values, _ := a.Values()
	for _, v := range values {
		docs = append(docs, v.Document())
	}
	return docs
}

// number reads any kind of number; -1 for other types.
func number(v bson.RawValue) int64 {
	if n, ok := v.AsInt64OK(); ok {
		return n
	}
	return -1
}

// is reports an error if got is not want.
func is[T comparable](s *scene, what string, got, want T) {
	s.Helper()
	if got != want {
		s.Errorf("%s: %v, want %v", what, got, want)
	}
}

// ejson returns a value as relaxed extended JSON.
func ejson(v bson.RawValue) string {
	if v.Type == 0 {
		return "missing"
	}
	return v.String()
}

// short shortens a command for an error message.
func short(text string) string {
	if len(text) > 300 {
		return text[:300] + "…"
	}
	return text
}
