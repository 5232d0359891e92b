package agg

import (
	"strings"
	"testing"

	"github.com/duskdb/duskdb/value"
)

// States of scripts that were written to disk are combined by merge, and reduce gets the
// values of all runs.
func TestScriptsThatSpill(t *testing.T) {
	s := newServer(t)
	var docs []value.Doc
	for i := range 400 {
		docs = append(docs, value.NewDoc("_id", value.Int32(int32(i)), "k", value.Int32(int32(i%5)), "pad", value.String(strings.Repeat("x", 500))))
	}
	s.insertDocs("c", docs)
	s.run(`admin: {setParameter: 1, internalDocumentSourceGroupMaxMemoryBytes: 20000}`)
	count := `[{$group: {_id: "$k", n: {$accumulator: {init: "function() { return {n: 0, pad: ''} }", accumulate: "function(s, pad) { s.n++; s.pad += pad; return s }", accumulateArgs: ["$pad"],
		merge: "function(a, b) { return {n: a.n + b.n, pad: a.pad + b.pad} }", finalize: "function(s) { return [s.n, s.pad.length] }", lang: "js"}}}}, {$sort: {_id: 1}}]`
	s.gives("c", count, `[{_id: 0, n: [80.0, 40000.0]}, {_id: 1, n: [80.0, 40000.0]}, {_id: 2, n: [80.0, 40000.0]}, {_id: 3, n: [80.0, 40000.0]}, {_id: 4, n: [80.0, 40000.0]}]`, `allowDiskUse: true`)
	s.fails(292, "c", count, `allowDiskUse: false`)
	reply := s.run(`{mapReduce: "c", map: "function() { emit(this.k, this.pad) }", reduce: "function(k, v) { return v.join('') }", finalize: "function(k, v) { return v.length }", out: {inline: 1}}`)
	if got := reply.Lookup("results").Doc().Len(); got != 5 {
		t.Fatal(reply)
	}
	for r := range reply.Lookup("results").Doc().Values() {
		if r.Doc().Lookup("value").AsDouble() != 40000 {
			t.Error(r)
		}
	}
	s.fails(139, "c", `[{$group: {_id: "$k", n: {$accumulator: {init: "function() { return '' }", accumulate: "function(s, pad) { return s + pad }", accumulateArgs: ["$pad"],
		merge: "function(a, b) { throw new Error('mine') }", lang: "js"}}}}]`, `allowDiskUse: true`)
}
