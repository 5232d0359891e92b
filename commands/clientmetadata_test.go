package commands_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/commands/internal/harness"
)

// Rules and messages of mongod's client_metadata.cpp: 1024 bytes on a mongod,
// 512 on a mongos.
func TestClientMetadata(t *testing.T) {
	const rest = `driver: {name: "d", version: "1"}, os: {type: "Linux"}`
	for _, tt := range []struct {
		client string
		code   int32
		text   string
	}{
		{`{` + rest + `}`, 0, ""},
		{`{` + rest + `, application: {name: "me"}, more: {x: 1}}`, 0, ""},
		{`1`, 14, ""},
		{`{os: {type: "Linux"}}`, 183, "Missing required sub-document 'driver' in the client metadata document"},
		{`{driver: {name: "d"}, os: {type: "Linux"}}`, 183, "Missing required field 'driver.version' in the client metadata document"},
		{`{driver: {name: "d", version: 1}, os: {type: "Linux"}}`, 14, "The 'driver.version' field must be a string in the client metadata document"},
		{`{driver: {name: "d", version: "1"}}`, 183, "Missing required sub-document 'os' in the client metadata document"},
		{`{driver: {name: "d", version: "1"}, os: 1}`, 14, ""},
		{`{` + rest + `, application: {name: "` + strings.Repeat("a", 129) + `"}}`, 184, "The 'application.name' field must be less then or equal to 128 bytes in the client metadata document"},
		{`{` + rest + `, platform: "` + strings.Repeat("p", 600) + `"}`, 0, ""},
		{`{` + rest + `, platform: "` + strings.Repeat("p", 1024) + `"}`, 185, "The client metadata document must be less then or equal to 1024 bytes"},
	} {
		h := harness.New(t)
		if tt.code == 0 {
			h.OK(`{hello: 1, client: ` + tt.client + `}`)
			h.OK(`{hello: 1}`)
			h.Fails(186, `{hello: 1, client: `+tt.client+`}`)
			continue
		}
		if text := h.Fails(tt.code, `{hello: 1, client: `+tt.client+`}`); tt.text != "" && text != tt.text {
			t.Errorf("%s\nsaid %s\nwant %s", tt.client, text, tt.text)
		}
	}
	h := harness.New(t)
	h.OK(`{hello: 1}`)
	h.Fails(186, `{hello: 1, client: {`+rest+`}}`)
}

// The server checks the cluster time of a client and advances its own to it.
func TestGossip(t *testing.T) {
	h := harness.New(t).AsMember()
	for text, code := range map[string]int32{
		`5`: 14, `{}`: 4, `{clusterTime: {}}`: 14, `{clusterTime: {$timestamp: {t: 4000000000, i: 1}}}`: 205,
		`{clusterTime: {$timestamp: {t: 1, i: 1}}}`: 0, `null`: 0,
	} {
		if reply := h.Run(`{ping: 1, $clusterTime: ` + text + `}`); reply.Lookup("code").Int32() != code {
			t.Errorf("$clusterTime %s: %s", text, reply)
		}
	}
	ahead := uint32(h.Clock.NowMillis()/1000 + 3600)
	reply := h.Run(`{ping: 1, $clusterTime: {clusterTime: {$timestamp: {t: ` + strconv.FormatUint(uint64(ahead), 10) + `, i: 7}}}}`)
	if seconds, i := reply.Lookup("$clusterTime").Doc().Lookup("clusterTime").Timestamp(); seconds != ahead || i != 7 {
		t.Errorf("the time was not taken over: %s", reply)
	}
	h.OK(`{insert: "c", documents: [{}]}`)
	if seconds, i := h.Run(`{ping: 1}`).Lookup("$clusterTime").Doc().Lookup("clusterTime").Timestamp(); seconds != ahead || i <= 7 {
		t.Errorf("a write after it has the time %d, %d", seconds, i)
	}
	h = harness.New(t).LoneServer("a time that it ignores")
	h.OK(`{ping: 1, $clusterTime: {}}`)
}
