package plan

import (
	"strings"

	"github.com/duskdb/duskdb/query/match"
	"github.com/duskdb/duskdb/value"
)

// Shape describes the stages that process the records of a plan, for explain.
type Shape struct {
	Filter     value.Doc // the parsed filter, or nil
	Sort       value.Doc
	Skip       int64
	Limit      int64
	Projection value.Doc
	// Inclusion reports whether the projection only lists the fields to keep.
	Inclusion bool
	// ProjectionKind is "SIMPLE" for a projection of top-level fields,
	// "DEFAULT" for any other.
	ProjectionKind string
	ReturnKey      bool   // the keys of the index are returned
	Score          bool   // reports whether the score of a $text is wanted
	Count          bool   // the documents are only counted
	Write          string // "UPDATE", "DELETE": what is done to the documents
	SortMemory     int64  // the limit, in bytes
}

// Explain builds the tree of stages of a plan. Leaf and Fetch of the result
// are where the executor counts entries and records.
func (p *Plan) Explain(s *Shape) *Stage {
	if s.Count && p.countable() {
		return p.counted()
	}
	if p.Skip > 0 && s.Projection == nil {
		return p.distinctStage(s)
	}
	top := p.access(s)
	if p.Type == ByID && s.alone() {
		if s.Projection != nil { // what looks the document up also projects it
			top.Detail = append(value.Doc(nil), top.Detail...)
			b := value.NewBuilder()
			it := top.Detail.Iter()
			b.Raw(it.Rest()).Document("projection", s.Projection).Bool("projectionCovered", false)
			top.Detail = b.Doc()
		}
		return top
	}
	if !s.Sort.IsEmpty() && !p.Sorted {
		b := value.NewBuilder()
		b.Document("sortPattern", s.Sort)
		b.Int64("memLimit", s.SortMemory)
		if s.Limit > 0 {
			b.Int64("limitAmount", s.Limit+s.Skip)
		}
		kind := "default"
		if top.Name == "COLLSCAN" || top.Name == "FETCH" {
			kind = "simple"
		}
		b.String("type", kind)
		top = &Stage{Name: "SORT", Detail: b.Doc(), Input: []*Stage{top}, totals: showSort}
	}
	top = s.paged(top, !p.Sorted && !s.Sort.IsEmpty())
	if s.ReturnKey {
		top = &Stage{Name: "RETURN_KEY", Input: []*Stage{top}}
	}
	if s.Projection != nil {
		top = &Stage{Name: p.projectionStage(s), Detail: value.NewDoc("transformBy", value.Document(s.Projection)), Input: []*Stage{top}}
	}
	if p.rooted {
		top = &Stage{Name: "SUBPLAN", Input: []*Stage{top}}
	}
	switch {
	case s.Count:
		top = &Stage{Name: "COUNT", Input: []*Stage{top}}
	case s.Write != "":
		top = &Stage{Name: s.Write, Input: []*Stage{top}}
	}
	return top
}

// alone reports whether a document that is looked up by its _id is at most
// projected. One document is within any limit.
func (s *Shape) alone() bool {
	return s.Skip == 0 && !s.ReturnKey && !s.Count && s.Write == ""
}

// Described writes the tree of stages that find the documents of a filter.
func (p *Plan) Described(m *match.Matcher, sort value.Doc) value.Doc {
	s := Shape{Sort: sort}
	if m != nil {
		s.Filter = m.Parsed()
	}
	b := value.NewBuilder()
	p.Explain(&s).AppendPlan(b)
	return b.Doc()
}

// distinctStage shows a scan for the distinct values of a field.
func (p *Plan) distinctStage(s *Shape) *Stage {
	if !p.Covered {
		return &Stage{Name: "FETCH", Input: []*Stage{p.scanStage(s)}, totals: showDocs | showFetch}
	}
	path := p.Index.Fields[p.Skip-1].Path
	transform := value.NewBuilder().Int32(path, 1)
	if path != "_id" {
		transform.Int32("_id", 0)
	}
	return &Stage{Name: "PROJECTION_COVERED", Detail: value.NewDoc("transformBy", value.Document(transform.Doc())), Input: []*Stage{p.scanStage(s)}}
}

// paged adds skip and limit; a sort has applied the limit already.
func (s *Shape) paged(top *Stage, sorted bool) *Stage {
	if s.Skip > 0 {
		top = &Stage{Name: "SKIP", Detail: value.NewDoc("skipAmount", value.Int64(s.Skip)), Input: []*Stage{top}}
	}
	if s.Limit > 0 && !sorted {
		top = &Stage{Name: "LIMIT", Detail: value.NewDoc("limitAmount", value.Int64(s.Limit)), Input: []*Stage{top}}
	}
	return top
}

func (p *Plan) projectionStage(s *Shape) string {
	if p.Covered && s.Inclusion {
		return "PROJECTION_COVERED"
	}
	return "PROJECTION_" + s.ProjectionKind
}

// countable reports whether a count needs no documents.
func (p *Plan) countable() bool {
	return p.Exact && (p.Type == ByID || p.Type == IndexScan && p.Ranges.Len() == 1) ||
		p.Type == CollScan && p.Exact
}

func (p *Plan) counted() *Stage {
	if p.Type == CollScan {
		return &Stage{Name: "RECORD_STORE_FAST_COUNT"}
	}
	b := value.NewBuilder()
	p.describeIndex(b)
	b.StartDocument("indexBounds")
	b.Document("startKey", p.boundDoc(false)).Bool("startKeyInclusive", p.boundInclusive(false))
	b.Document("endKey", p.boundDoc(true)).Bool("endKeyInclusive", p.boundInclusive(true))
	b.End()
	scan := &Stage{Name: "COUNT_SCAN", Detail: b.Doc(), totals: showKeys}
	return &Stage{Name: "COUNT", Input: []*Stage{scan}}
}

// boundDoc is the first or the last key of the bounds, field by field.
func (p *Plan) boundDoc(end bool) value.Doc {
	b := value.NewBuilder()
	for i, name := range p.boundNames() {
		in := p.Bounds[i]
		if in.Len() == 0 {
			continue
		}
		if end != p.descending(i) {
			b.Append(name, in.At(in.Len()-1).Hi)
		} else {
			b.Append(name, in.At(0).Lo)
		}
	}
	return b.Doc()
}

// boundInclusive reports whether the first or the last key of the bounds is
// included, for every field.
func (p *Plan) boundInclusive(end bool) bool {
	for i, in := range p.Bounds {
		if in.Len() == 0 {
			continue
		}
		if end != p.descending(i) {
			if !in.At(in.Len() - 1).HiInc {
				return false
			}
		} else if !in.At(0).LoInc {
			return false
		}
	}
	return true
}

func (p *Plan) descending(i int) bool {
	names := p.boundNames()
	if len(names) == len(p.Index.Fields) {
		return p.Index.Fields[i].Desc
	}
	return false
}

// access is the part of the tree that fetches the documents.
func (p *Plan) access(s *Shape) *Stage {
	switch p.Type {
	case Nothing:
		return &Stage{Name: "EOF", Detail: value.NewDoc("type", value.String("predicateEvalsToFalse"))}
	case CollScan:
		return p.collScan(s)
	case ByID:
		return &Stage{Name: "EXPRESS_IXSCAN", Detail: value.NewDoc(
			"keyPattern", value.String(p.Index.Key.String()), "indexName", value.String(p.Index.Name)), totals: showKeys | showDocs}
	}
	if p.Covered {
		return p.indexStage(s)
	}
	if p.Text != nil {
		return p.textStage(s)
	}
	fetch := &Stage{Name: "FETCH", Input: []*Stage{p.indexStage(s)}, totals: showDocs | showFetch}
	if s.Filter != nil && !s.Filter.IsEmpty() && !p.Exact && !p.Filtered {
		fetch.Detail = value.NewDoc("filter", value.Document(s.Filter))
	}
	if p.Near != nil {
		return p.nearStage(fetch)
	}
	return fetch
}

// nearStage orders the results by distance.
func (p *Plan) nearStage(in *Stage) *Stage {
	name := "GEO_NEAR_2D"
	if hasKind(p.Index, Sphere) {
		name = "GEO_NEAR_2DSPHERE"
	}
	return &Stage{Name: name, Input: []*Stage{in}, Detail: value.NewDoc("keyPattern", value.Document(p.Index.Key),
		"indexName", value.String(p.Index.Name), "indexVersion", value.Int32(p.Index.Version))}
}

func (p *Plan) collScan(s *Shape) *Stage {
	b := value.NewBuilder()
	if s.Filter != nil && !s.Filter.IsEmpty() {
		b.Document("filter", s.Filter)
	}
	b.String("direction", direction(p.Reverse))
	return &Stage{Name: "COLLSCAN", Detail: b.Doc(), totals: showDocs}
}

func direction(reverse bool) string {
	if reverse {
		return "backward"
	}
	return "forward"
}

// indexStage describes the scan itself: of one index, or several of them
// joined.
func (p *Plan) indexStage(s *Shape) *Stage {
	switch p.Type {
	case Union:
		or := &Stage{Name: "OR"}
		for _, part := range p.Parts {
			or.Input = append(or.Input, part.indexStage(s))
		}
		return or
	case Merge:
		merge := &Stage{Name: "SORT_MERGE", Detail: value.NewDoc("sortPattern", value.Document(s.Sort))}
		for _, bounds := range p.exploded() {
			one := *p
			one.Bounds = bounds
			merge.Input = append(merge.Input, one.scanStage(s))
		}
		return merge
	}
	return p.scanStage(s)
}

func (p *Plan) scanStage(s *Shape) *Stage {
	b := value.NewBuilder()
	if p.Filtered && s.Filter != nil && !s.Filter.IsEmpty() {
		b.Document("filter", s.Filter)
	}
	p.describeIndex(b)
	b.String("direction", direction(p.Reverse))
	p.describeBounds(b)
	name := "IXSCAN"
	if p.Skip > 0 {
		name = "DISTINCT_SCAN"
	}
	return &Stage{Name: name, Detail: b.Doc(), totals: showKeys}
}

// exploded returns the bounds of each merged scan: one point of each of the
// leading fields.
func (p *Plan) exploded() [][]Intervals {
	scans := [][]Intervals{nil}
	points := 0
	for points < len(p.Bounds) && p.Bounds[points].isPoints() {
		var next [][]Intervals
		for _, head := range scans {
			for i := range p.Bounds[points].All() {
				next = append(next, append(head[:len(head):len(head)], intervals(i)))
			}
		}
		scans = next
		points++
	}
	for i := range scans {
		scans[i] = append(scans[i], p.Bounds[points:]...)
	}
	return scans
}

// describeIndex writes the fields of an IXSCAN stage that describe its index.
func (p *Plan) describeIndex(b *value.Builder) {
	x := p.Index
	b.Document("keyPattern", p.keyPattern()).String("indexName", x.Name)
	if x.CollationDoc != nil {
		b.Document("collation", x.CollationDoc)
	}
	b.Bool("isMultiKey", x.Multikey != 0)
	b.StartDocument("multiKeyPaths")
	names := p.boundNames()
	for i := range x.Fields {
		if x.Fields[i].Kind == Wildcard {
			b.StartArray(names[0]).End()
			names = names[1:]
		}
		b.StartArray(names[0])
		names = names[1:]
		for _, path := range x.arrayPaths(i) {
			b.String("", path)
		}
		b.End()
	}
	b.End()
	b.Bool("isUnique", x.Unique).Bool("isSparse", x.Sparse).Bool("isPartial", x.Partial != nil)
	b.Int32("indexVersion", x.Version)
}

// keyPattern returns the key pattern of the index; for a wildcard index with
// the path that it is searched for in place of the wildcard.
func (p *Plan) keyPattern() value.Doc {
	path := p.wildcardPath()
	if path == "" {
		return p.Index.Key
	}
	b := value.NewBuilder()
	for name, v := range p.Index.Key.All() {
		if strings.HasSuffix(name, "$**") {
			b.Append("$_path", v)
			name = path
		}
		b.Append(name, v)
	}
	return b.Doc()
}

// boundNames names the components of the index's keys.
func (p *Plan) boundNames() (names []string) {
	for _, f := range p.Index.Fields {
		if f.Kind == Wildcard {
			names = append(names, "$_path")
			path := "$**"
			if f.Path != "" {
				path = f.Path + ".$**"
			}
			if p.path != "" {
				path = p.path
			}
			names = append(names, path)
			continue
		}
		names = append(names, f.Path)
	}
	return names
}

// describeBounds writes the indexBounds of a scan, as mongod prints them.
func (p *Plan) describeBounds(b *value.Builder) {
	b.StartDocument("indexBounds")
	if !p.min.IsEmpty() || !p.max.IsEmpty() {
		p.describeMinMax(b)
		b.End()
		return
	}
	for i, name := range p.boundNames() {
		if i >= len(p.Bounds) {
			break
		}
		b.StartArray(name)
		desc := p.descending(i) != p.Reverse
		n := p.Bounds[i].Len()
		for k := range n {
			if desc {
				b.String("", p.Bounds[i].At(n-1-k).text(true))
			} else {
				b.String("", p.Bounds[i].At(k).text(false))
			}
		}
		b.End()
	}
	b.End()
}

// Forget drops long bounds, which only an explanation needs: the ranges contain the same.
func (p *Plan) Forget() {
	for _, part := range p.Parts {
		if part.Forget(); len(p.Parts) > longBounds {
			part.Bounds = nil
		}
	}
	for _, in := range p.Bounds {
		if len(in.list) > longBounds {
			p.Bounds = nil
			return
		}
	}
}

// longBounds is how many intervals a plan keeps.
const longBounds = 1000

// describeMinMax prints a range given by min() and max().
func (p *Plan) describeMinMax(b *value.Builder) {
	ends := [2]value.Doc{p.min, p.max}
	for i, end := range ends {
		if !end.IsEmpty() {
			continue
		}
		open := value.NewBuilder()
		for _, f := range p.Index.Fields {
			if f.Desc == (i == 1) {
				open.Append(f.Path, value.MinKey())
			} else {
				open.Append(f.Path, value.MaxKey())
			}
		}
		ends[i] = open.Doc()
	}
	b.Document("startKey", ends[0]).Bool("startKeyInclusive", true)
	b.Document("endKey", ends[1]).Bool("endKeyInclusive", p.max.IsEmpty())
}

// text prints an interval as mongod does: "[1, 5)", "(inf, 3]".
func (i Interval) text(reverse bool) string {
	open, shut := "(", ")"
	lo, hi, loInc, hiInc := i.Lo, i.Hi, i.LoInc, i.HiInc
	if reverse {
		lo, hi, loInc, hiInc = hi, lo, hiInc, loInc
	}
	if loInc {
		open = "["
	}
	if hiInc {
		shut = "]"
	}
	return open + boundText(lo) + ", " + boundText(hi) + shut
}

// boundText prints one end of an interval. Infinities have a fraction only
// there.
func boundText(v value.Value) string {
	if v.Kind() == value.KindDouble {
		switch s := value.FormatDouble(v.Double()); s {
		case "inf", "-inf":
			return s + ".0"
		default:
			return s
		}
	}
	return v.String()
}
