package plan

import "github.com/duskdb/duskdb/value"

// A text search scans the index once for each word. TEXT_MATCH checks phrases
// and excluded words on the documents. If the score is needed, TEXT_OR adds it
// up; otherwise an OR joins the scans and the documents are fetched.

// textStage is the tree of a search.
func (p *Plan) textStage(s *Shape) *Stage {
	var scans []*Stage
	for _, word := range p.words() {
		scans = append(scans, word.scanStage(s))
	}
	in := &Stage{Name: "TEXT_OR", Input: scans, totals: showDocs}
	if !s.Score {
		if len(scans) > 1 {
			scans = []*Stage{{Name: "OR", Input: scans}}
		}
		in = &Stage{Name: "FETCH", Input: scans, totals: showDocs | showFetch}
	}
	if rest := withoutText(s.Filter); !rest.IsEmpty() {
		in.Detail = value.NewDoc("filter", value.Document(rest))
	}
	return &Stage{Name: "TEXT_MATCH", Input: []*Stage{in}, Detail: p.textDetail(), totals: showRejected}
}

// words are the plan's scans apart, one for each word.
func (p *Plan) words() []*Plan {
	at := 0
	for p.Index.Fields[at].Kind != Text {
		at++
	}
	words := make([]*Plan, 0, p.Ranges.Len())
	for i := range p.Ranges.Len() {
		one := *p
		one.Ranges = RangesOf(p.Ranges.At(i))
		if p.Bounds[at].Len() == p.Ranges.Len() {
			one.Bounds = append([]Intervals(nil), p.Bounds...)
			one.Bounds[at] = intervals(p.Bounds[at].At(i))
		}
		words = append(words, &one)
	}
	return words
}

// withoutText is a parsed filter without its $text.
func withoutText(filter value.Doc) value.Doc {
	if filter.Has("$text") {
		return nil
	}
	var rest []value.Value
	for v := range filter.Lookup("$and").Doc().Values() {
		if !v.Doc().Has("$text") {
			rest = append(rest, v)
		}
	}
	if len(rest) == 1 {
		return rest[0].Doc()
	}
	return value.NewDoc("$and", value.NewArray(rest...))
}

// textDetail describes the search.
func (p *Plan) textDetail() value.Doc {
	q := p.Text.Query
	b := value.NewBuilder()
	b.StartDocument("indexPrefix")
	for i, f := range p.Index.Fields {
		if f.Kind == Text {
			break
		}
		b.Append(f.Path, p.Bounds[i].At(0).Lo)
	}
	b.End()
	b.String("indexName", p.Index.Name)
	b.StartDocument("parsedTextQuery")
	for _, list := range []struct {
		name  string
		items []string
	}{{"terms", q.Terms}, {"negatedTerms", q.NegatedTerms}, {"phrases", q.Phrases}, {"negatedPhrases", q.NegatedPhrases}} {
		b.StartArray(list.name)
		for _, item := range list.items {
			b.String("", item)
		}
		b.End()
	}
	b.End()
	b.Int32("textIndexVersion", 3)
	return b.Doc()
}

// AsksForScore reports whether a sort or a projection uses the score of a
// $text.
func AsksForScore(specs ...value.Doc) bool {
	for _, d := range specs {
		for name, v := range d.All() {
			if name == "$meta" && v.Str() == "textScore" || v.Doc() != nil && AsksForScore(v.Doc()) {
				return true
			}
		}
	}
	return false
}
