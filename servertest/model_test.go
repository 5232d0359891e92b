package servertest_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"pgregory.net/rapid"

	"github.com/duskdb/duskdb/servertest"
)

// TestModel plays random writes, policy changes, moves of the clock, passes
// and restarts against a server and against a naive model of each policy,
// and compares what both show after every step.
func TestModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := newModel(t, rt)
		defer m.stop()
		m.s.ok(`{create: "cl", clusteredIndex: {key: {_id: 1}, unique: true}}`)
		m.s.ok(`{create: "ts", timeseries: {timeField: "time"}}`)
		m.s.ok(`{create: "q", messageQueue: {}}`)
		m.s.ok(`{createIndexes: "c", indexes: [{key: {x: 1}, name: "x_1", expireAfterSeconds: 10}]}`)
		rt.Repeat(map[string]func(*rapid.T){
			"":          func(*rapid.T) { m.compare() },
			"insert":    m.insert,
			"update":    m.update,
			"delete":    m.remove,
			"merge":     m.merge,
			"applyOps":  m.applyOps,
			"modify":    m.findAndModify,
			"unique":    func(*rapid.T) { m.unique() },
			"collMod":   m.collMod,
			"policy":    m.policy,
			"onExpire":  m.deadLetters,
			"clustered": m.clusteredStep,
			"series":    m.seriesStep,
			"queue":     m.queueStep,
			"advance":   m.advance,
			"pass":      func(*rapid.T) { m.pass() },
			"restart":   func(*rapid.T) { m.restart() },
		})
	})
}

// reporter lets a scene report to rapid, which then looks for a shorter
// failure.
type reporter struct {
	testing.TB
	rt *rapid.T
}

func (r reporter) Helper()                   {}
func (r reporter) Errorf(f string, a ...any) { r.rt.Errorf(f, a...) }
func (r reporter) Fatalf(f string, a ...any) { r.rt.Fatalf(f, a...) }
func (r reporter) Fatal(a ...any)            { r.rt.Fatal(a...) }

// model is the expected state of the server. Times are in milliseconds since the start.
type model struct {
	s    *scene
	dir  string
	now  int64
	docs map[int]*modelDoc // "c", whether visible or not

	index    int64  // expireAfterSeconds of the TTL index
	document *int64 // default of document TTL, nil: off
	moved    bool   // onExpire
	dead     int    // documents moved

	clustered      map[int64]bool
	clusteredAfter *int64

	series      map[int]int64 // time of each measurement
	seriesAfter *int64
	measured    int

	messages map[int]int64 // when each expires, 0: never
	sent     int
}

// modelDoc is a document of "c".
type modelDoc struct {
	x   *int64 // the date, nil: none
	ts  int64  // second of the last write
	ttl *int64 // its own
	u   int    // what an index on u may find to be unique
}

func newModel(t *testing.T, rt *rapid.T) *model {
	m := &model{
		dir: t.TempDir(), docs: map[int]*modelDoc{}, index: 10, clustered: map[int64]bool{}, series: map[int]int64{}, messages: map[int]int64{},
	}
	tb := reporter{t, rt}
	m.s = connect(tb, servertest.Run(tb, servertest.Dir(m.dir), servertest.At(servertest.Start)))
	return m
}

func (m *model) stop() {
	m.s.leave()
	m.s.srv.Stop()
}

func (m *model) restart() {
	m.stop()
	m.s = connect(m.s.TB, servertest.Run(m.s.TB, servertest.Dir(m.dir), servertest.At(at(float64(m.now)/1000))))
}

func date(ms int64) string {
	return fmt.Sprintf("d(%s)", strconv.FormatFloat(float64(ms)/1000, 'f', 3, 64))
}

// expired reports whether document TTL has ended a document.
func (m *model) expired(d *modelDoc) bool {
	if m.document == nil {
		return false
	}
	ttl := *m.document
	if d.ttl != nil {
		ttl = *d.ttl
	}
	return ttl >= 0 && (d.ts+ttl)*1000 <= m.now
}

// expire removes a document of "c" as expired.
func (m *model) expire(id int) {
	delete(m.docs, id)
	if m.moved {
		m.dead++
	}
}

// draw makes the fields of a random document.
func (m *model) draw(t *rapid.T) (d *modelDoc, fields string) {
	d = &modelDoc{ts: m.now / 1000, u: rapid.IntRange(1, 40).Draw(t, "u")}
	fields = fmt.Sprintf(`, u: %d`, d.u)
	switch rapid.IntRange(0, 3).Draw(t, "x") {
	case 0:
		fields += `, x: "text"`
	case 1:
		x := m.now + rapid.Int64Range(-20000, 20000).Draw(t, "date")
		d.x = &x
		fields += `, x: ` + date(x)
	case 2:
		x := m.now + rapid.Int64Range(-20000, 20000).Draw(t, "date")
		d.x = &x
		fields += fmt.Sprintf(`, x: [%s, 5, %s]`, date(x+1000), date(x))
	}
	if n := rapid.SampledFrom([]int64{0, -1, 1, 5, 30}).Draw(t, "ttl"); n != 0 {
		d.ttl = &n
		fields += fmt.Sprintf(`, ttl: %d`, n)
	}
	return d, fields
}

func drawID(t *rapid.T) int { return rapid.IntRange(1, 12).Draw(t, "_id") }

func (m *model) insert(t *rapid.T) {
	id := drawID(t)
	d, fields := m.draw(t)
	old := m.docs[id]
	_, err := m.s.run(`{insert: "c", documents: [{_id: %d%s}]}`, id, fields)
	if old != nil && !m.expired(old) {
		var e mongo.ServerError
		if !errors.As(err, &e) || !e.HasErrorCode(11000) {
			t.Fatalf("insert of %d: %v, want 11000", id, err)
		}
		return
	}
	if err != nil {
		t.Fatalf("insert of %d: %v", id, err)
	}
	if old != nil {
		m.expire(id)
	}
	m.docs[id] = d
}

// update plays the kinds of update on one document.
func (m *model) update(t *rapid.T) {
	id := drawID(t)
	d := m.docs[id]
	visible := d != nil && !m.expired(d)
	want := int64(0)
	if visible {
		want = 1
	}
	change, upsert := "", ""
	fresh, fields := m.draw(t)
	switch rapid.IntRange(0, 4).Draw(t, "kind") {
	case 0:
		change = `{$set: {same: 1}}`
		fresh = nil
	case 1:
		change = `{$unset: {ttl: 1}}`
		fresh.x, fresh.ttl = nil, nil
		if visible {
			fresh.x, fresh.u = d.x, d.u
		}
	case 2:
		change = `{` + strings.TrimPrefix(fields, ", ") + `}`
	case 3:
		change = `[{$set: {ttl: 7}}]`
		seven := int64(7)
		fresh.x, fresh.ttl = nil, &seven
		if visible {
			fresh.x, fresh.u = d.x, d.u
		}
	default:
		change, upsert = `{`+strings.TrimPrefix(fields, ", ")+`}`, `, upsert: true`
		want = 1
	}
	r, err := m.s.run(`{update: "c", updates: [{q: {_id: %d}, u: %s%s}]}`, id, change, upsert)
	if err != nil || number(r.Lookup("n")) != want {
		t.Fatalf("update of %d by %s: %s, %v; want n %d", id, change, r, err, want)
	}
	switch {
	case want == 0:
		return
	case d != nil && !visible:
		m.expire(id)
	}
	if fresh == nil {
		d.ts = m.now / 1000
		return
	}
	m.docs[id] = fresh
}

func (m *model) remove(t *rapid.T) {
	id := drawID(t)
	d := m.docs[id]
	want := int64(0)
	if d != nil && !m.expired(d) {
		want = 1
		delete(m.docs, id)
	}
	if n := number(m.s.ok(`{delete: "c", deletes: [{q: {_id: %d}, limit: 1}]}`, id).Lookup("n")); n != want {
		t.Fatalf("delete of %d: n %d, want %d", id, n, want)
	}
}

func (m *model) collMod(t *rapid.T) {
	m.index = rapid.Int64Range(0, 30).Draw(t, "expireAfterSeconds")
	m.s.ok(`{collMod: "c", index: {name: "x_1", expireAfterSeconds: %d}}`, m.index)
}

// policy changes document TTL in one of the possible ways. Expired documents are removed
// before.
func (m *model) policy(t *rapid.T) {
	for id, d := range m.docs {
		if m.expired(d) {
			m.expire(id)
		}
	}
	n := rapid.SampledFrom([]int64{-1, 3, 10, 60}).Draw(t, "default")
	route := rapid.IntRange(0, 3).Draw(t, "route")
	switch {
	case m.document == nil && route == 0:
		m.s.ok(`{createIndexes: "c", indexes: [{key: {_ts: 1}, name: "_ts_1", expireAfterSeconds: %d}]}`, n)
	case route < 2:
		m.s.ok(`{collMod: "c", documentTtl: {default: %d, invalid: "ignore"}}`, n)
	case m.document != nil && route == 2:
		m.s.ok(`{dropIndexes: "c", index: "_ts_1"}`)
		m.document = nil
		return
	default:
		m.s.ok(`{collMod: "c", documentTtl: "off"}`)
		m.document = nil
		return
	}
	m.document = &n
}

func (m *model) deadLetters(t *rapid.T) {
	m.moved = rapid.Bool().Draw(t, "moved")
	to := map[bool]string{true: `{deadLetterTo: "dead"}`, false: `"off"`}[m.moved]
	m.s.ok(`{collMod: "c", onExpire: %s}`, to)
}

// after draws the seconds of a collection, nil for off.
func after(t *rapid.T) (*int64, string) {
	if rapid.Bool().Draw(t, "off") {
		return nil, `"off"`
	}
	n := rapid.Int64Range(0, 40).Draw(t, "expireAfterSeconds")
	return &n, strconv.FormatInt(n, 10)
}

func (m *model) clusteredStep(t *rapid.T) {
	if rapid.Bool().Draw(t, "change") {
		var text string
		m.clusteredAfter, text = after(t)
		m.s.ok(`{collMod: "cl", expireAfterSeconds: %s}`, text)
		return
	}
	x := m.now + rapid.Int64Range(-30000, 30000).Draw(t, "_id")
	if !m.clustered[x] {
		m.s.ok(`{insert: "cl", documents: [{_id: %s}]}`, date(x))
		m.clustered[x] = true
	}
}

func (m *model) seriesStep(t *rapid.T) {
	if rapid.IntRange(0, 3).Draw(t, "change") == 0 {
		var text string
		m.seriesAfter, text = after(t)
		m.s.ok(`{collMod: "ts", expireAfterSeconds: %s}`, text)
		return
	}
	x := m.now + rapid.Int64Range(-8000_000, 100_000).Draw(t, "time")
	m.measured++
	m.s.ok(`{insert: "ts", documents: [{_id: %d, time: %s}]}`, m.measured, date(x))
	m.series[m.measured] = x
}

func (m *model) queueStep(t *rapid.T) {
	if rapid.Bool().Draw(t, "receive") {
		m.receive(t)
		return
	}
	m.sent++
	ttl := rapid.SampledFrom([]int64{0, 1, 20}).Draw(t, "timeToLive")
	if m.messages[m.sent] = 0; ttl > 0 {
		m.messages[m.sent] = m.now + ttl*1000
		m.s.ok(`{insert: "q", documents: [{_id: %d, _mq: {timeToLive: %d}}]}`, m.sent, ttl)
		return
	}
	m.s.ok(`{insert: "q", documents: [{_id: %d}]}`, m.sent)
}

// receive takes the oldest message that has not expired; expired ones are dropped.
func (m *model) receive(t *rapid.T) {
	m.dropMessages()
	got := m.s.messages(`{mqReceive: "q", mode: "receiveAndDelete"}`)
	want := 0
	for id := range m.messages {
		if want == 0 || id < want {
			want = id
		}
	}
	switch {
	case want == 0 && len(got) == 0:
		return
	case len(got) != 1 || number(got[0].Lookup("_id")) != int64(want):
		t.Fatalf("received %s, want %d", got, want)
	}
	delete(m.messages, want)
}

func (m *model) dropMessages() {
	for id, at := range m.messages {
		if at != 0 && at <= m.now {
			delete(m.messages, id)
		}
	}
}

func (m *model) advance(t *rapid.T) {
	m.now += rapid.SampledFrom([]int64{1, 500, 999, 1000, 5000, 9999, 60000, 3600_000}).Draw(t, "milliseconds")
	m.s.to(float64(m.now) / 1000)
}

func (m *model) pass() {
	m.s.pass()
	for id, d := range m.docs {
		if d.x != nil && *d.x <= m.now-m.index*1000 || m.expired(d) {
			m.expire(id)
		}
	}
	if m.clusteredAfter != nil {
		for x := range m.clustered {
			if x <= m.now-*m.clusteredAfter*1000 {
				delete(m.clustered, x)
			}
		}
	}
	m.dropMessages()
	m.passSeries()
}

// passSeries compares the time series after a pass. The time of a measurement's removal
// depends on its bucket: not before the measurement expires, and at the latest with a
// bucket that begins at the measurement's minute.
func (m *model) passSeries() {
	const span = 3600_000
	left := map[int]bool{}
	for _, id := range strings.Fields(m.s.found("ts")) {
		n, _ := strconv.Atoi(id)
		left[n] = true
	}
	for id, x := range m.series {
		if left[id] {
			if minute := (at(0).UnixMilli()+x)/60000*60000 - at(0).UnixMilli(); m.seriesAfter != nil && minute+span+*m.seriesAfter*1000 <= m.now {
				m.s.Fatalf("measurement %d of %s is still there at %s", id, date(x), date(m.now))
			}
			continue
		}
		if m.seriesAfter == nil || x+*m.seriesAfter*1000 > m.now {
			m.s.Fatalf("measurement %d of %s is gone at %s", id, date(x), date(m.now))
		}
		delete(m.series, id)
	}
}

// compare checks everything that clients see.
func (m *model) compare() {
	s := m.s
	var visible []int
	for id, d := range m.docs {
		if !m.expired(d) {
			visible = append(visible, id)
		}
	}
	want := sortedIDs(visible)
	is(s, "find", s.found("c"), want)
	is(s, "count", s.count("c"), int64(len(visible)))
	is(s, "$lookup", len(elements(s.first(`{aggregate: 1, pipeline: [{$documents: [{}]}, {$lookup: {from: "c", pipeline: [], as: "x"}}], cursor: {}}`).Lookup("x"))), len(visible))
	is(s, "stored", number(s.ok(`{collStats: "c"}`).Lookup("count")), int64(len(m.docs)))
	is(s, "dead letters", s.count("dead"), int64(m.dead))
	is(s, "clustered", s.count("cl"), int64(len(m.clustered)))
	is(s, "series", s.count("ts"), int64(len(m.series)))
	var messages []int
	for id := range m.messages {
		messages = append(messages, id)
	}
	is(s, "messages", s.found("q"), sortedIDs(messages))
	for _, c := range []string{"c", "ts", "cl", "q"} {
		if r := s.ok(`{validate: %q}`, c); !r.Lookup("valid").Boolean() {
			s.Errorf("%s", r)
		}
	}
}

func sortedIDs(ids []int) string {
	slices.Sort(ids)
	text := fmt.Sprint(ids)
	return text[1 : len(text)-1]
}
