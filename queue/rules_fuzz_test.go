package queue

import (
	"testing"

	"github.com/duskdb/duskdb/value"
)

// Whatever rules are given are refused, or select copies of a message that can be stored; and
// what is stored of them reads back as the same rules.
func FuzzRules(f *testing.F) {
	for _, s := range []string{
		`[]`, `[{"name": "$Default", "filter": true}]`, `[{"name": "a", "correlationFilter": {"a": "red", "b.c": 5}}]`,
		`[{"name": "a", "filter": {"$expr": {"$divide": [1, "$b"]}}, "action": {"$inc": {"a": 1}}}]`,
		`[{"name": "a", "filter": {"a": {"$in": [1, "x"]}}, "action": {"$set": {"a.b": 1}, "$unset": {"b": 1}}}, {"name": "b", "filter": false}]`,
		`[{"name": "a", "filter": true, "action": {"$push": {"a": {"$each": [1, 2], "$slice": -1}}}}]`,
	} {
		f.Add([]byte(value.MustJSON(`{"rules": ` + s + `}`)))
	}
	b := newEnv(f).broker
	sent := value.MustJSON(`{"_id": 1, "a": 3, "b": {"c": [1, 2]}, "_mq": {"messageId": "m"}}`)
	f.Fuzz(func(t *testing.T, data []byte) {
		if value.Validate(data) != nil {
			return
		}
		_, v := value.Doc(data).First()
		rules, err := parseRules("rules", v)
		if err != nil {
			return
		}
		if again, err := parseRules("rules", value.Array(rules.doc)); err != nil || len(again.list) != len(rules.list) {
			t.Errorf("read back as %d rules, %v", len(again.list), err)
		}
		var m message
		m.split(sent)
		m.enqueue(1, t0)
		_, err = rules.eachCopy(&m, t0, b.Changes(), func(c *message) error {
			if err := value.Validate(c.encode(stored, false)); err != nil {
				t.Errorf("a copy cannot be stored: %v", err)
			}
			return nil
		})
		if err != nil {
			t.Errorf("%v", err)
		}
	})
}
