package query

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/value"
)

// script is one file of testdata/filters. It has, line by line:
//
//	doc {_id: 1, …}        a document of the collection
//	index {a: 1}, …        an index that must not change any answer
//	with collation: …      options of every find from here on
//	{filter} => 1 2        the _ids that match, in the order of _id
//	{filter} -> 2 1        the _ids in the order they come
//	{filter} !! 2 text     the code of the error, and a part of its message
type script struct {
	docs    []value.Value
	indexes []string
	cases   []filterCase
	only    bool // without an index nothing works: $text and $near
}

type filterCase struct {
	line         int
	filter, with string
	kind, want   string
}

func readScript(t *testing.T, name string) *script {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	s, with := &script{}, ""
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		verb, rest, _ := strings.Cut(line, " ")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case verb == "doc":
			s.docs = append(s.docs, value.Document(parse(rest)))
		case verb == "index":
			s.indexes = append(s.indexes, rest)
		case verb == "with":
			with = ", " + rest
		case verb == "needs-index":
			s.only = true
		default:
			c := filterCase{line: i + 1, with: with}
			for _, kind := range []string{"=>", "->", "!!"} {
				if a, b, ok := strings.Cut(line, " "+kind); ok {
					c.filter, c.kind, c.want = strings.TrimSpace(a), kind, strings.TrimSpace(b)
				}
			}
			if c.kind == "" {
				t.Fatalf("%s:%d: what is %q?", name, i+1, line)
			}
			s.cases = append(s.cases, c)
		}
	}
	return s
}

// TestFilters runs every filter without an index and with each of the
// script's, by the planner's choice and by hint.
func TestFilters(t *testing.T) {
	files, err := filepath.Glob("testdata/filters/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			sc, s := readScript(t, file), newServer(t)
			for i := range len(sc.indexes) + 1 {
				coll, spec := fmt.Sprint("c", i), "no index"
				s.insertDocs(coll, sc.docs)
				if i > 0 {
					spec = sc.indexes[i-1]
					s.index(coll, spec)
				} else if sc.only {
					continue
				}
				for _, c := range sc.cases {
					s.check(coll, fmt.Sprintf("%s:%d %s", file, c.line, spec), &c, "")
					if i > 0 && hintable(spec) {
						s.check(coll, fmt.Sprintf("%s:%d hint %s", file, c.line, spec), &c, ", hint: '"+indexName+"'")
					}
				}
			}
		})
	}
}

// hintable reports whether an index has all documents, so that forcing it may
// not change an answer.
func hintable(spec string) bool {
	for _, word := range []string{"sparse", "partial", "$**", "'2d", "'text'", "hashed"} {
		if strings.Contains(spec, word) {
			return false
		}
	}
	return true
}

func (s *server) check(coll, where string, c *filterCase, more string) {
	s.Helper()
	find := `{find: '` + coll + `', filter: ` + c.filter + c.with + more + `}`
	reply := s.send(parse(find))
	code, text := failure(reply)
	if c.kind == "!!" {
		number, part, _ := strings.Cut(c.want, " ")
		if n, _ := strconv.Atoi(number); int32(n) != code || !strings.Contains(text, part) {
			s.Errorf("%s: %s\ngot  %d %s\nwant %s", where, c.filter, code, text, c.want)
		}
		return
	}
	got := sortedIDs(batch(reply))
	if c.kind == "->" {
		got = idsOf(batch(reply))
	}
	if got != c.want || code != 0 {
		s.Errorf("%s: %s\ngot  %s (error %d %s)\nwant %s", where, c.filter, got, code, text, c.want)
		return
	}
	if strings.Contains(c.with, "sort") || strings.Contains(c.filter, "$near") {
		return
	}
	count := s.send(parse(`{count: '` + coll + `', query: ` + c.filter + c.with + more + `}`))
	if n := len(strings.Fields(c.want)); count.Lookup("n").SafeInt64() != int64(n) {
		s.Errorf("%s: count %s\ngot  %s\nwant %d", where, c.filter, count, n)
	}
}
