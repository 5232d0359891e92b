package aggtest

import (
	"slices"

	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/value"
)

// Packs is a stage.Packs over documents in memory that have a time "t" and, if they
// like, a shared value "m".
type Packs struct {
	Packs  []*Pack
	Shared string // "m", or "" if the packs have no shared field
	Err    error  // the error of NextPack after the last pack
	Closed bool

	docs []value.Doc
	read bool
}

// Pack is one of Packs.
type Pack struct {
	Content []value.Doc
	Part    bool  // some documents do not pass the filter: the summary is of no use
	Unknown bool  // the times are not known
	Err     error // the error of the iterator after the last document
	Opened  int   // the number of times it was unpacked
}

// NewPacks puts each group of documents into a pack.
func NewPacks(groups ...[]value.Doc) *Packs {
	p := &Packs{Shared: "m"}
	for _, docs := range groups {
		p.Packs = append(p.Packs, &Pack{Content: docs})
	}
	return p
}

// PackFields returns the names of the fields.
func (p *Packs) PackFields() (shared, time string) { return p.Shared, "t" }

// NextPack returns the next pack.
func (p *Packs) NextPack() (stage.Pack, error) {
	if len(p.Packs) == 0 {
		return nil, p.Err
	}
	next := p.Packs[0]
	p.Packs = p.Packs[1:]
	return pack{next}, nil
}

// Next returns the next document, for stages that do not run on packs.
func (p *Packs) Next() (value.Doc, error) {
	if !p.read {
		for _, one := range p.Packs {
			one.Opened++
			p.docs = append(p.docs, one.Content...)
		}
		p.read = true
	}
	if len(p.docs) == 0 {
		return nil, p.Err
	}
	d := p.docs[0]
	p.docs = p.docs[1:]
	return d, nil
}

// Close notes that the source was closed.
func (p *Packs) Close() { p.Closed = true }

type pack struct{ p *Pack }

func (p pack) Whole() bool { return !p.p.Part }

func (p pack) Count() (int64, error) { return int64(len(p.p.Content)), nil }

func (p pack) Shared() value.Value {
	if len(p.p.Content) == 0 {
		return value.Value{}
	}
	return p.p.Content[0].Lookup("m")
}

// Times rounds the first time down, as a bucket of a time series does.
func (p pack) Times() (from, last int64, ok bool) {
	if p.p.Unknown || len(p.p.Content) == 0 {
		return 0, 0, false
	}
	at := func(d value.Doc) int64 { return d.Lookup("t").DateTime() }
	byTime := func(a, b value.Doc) int { return int(at(a) - at(b)) }
	from = at(slices.MinFunc(p.p.Content, byTime))
	return from - from%1000, at(slices.MaxFunc(p.p.Content, byTime)), true
}

func (p pack) Extreme(path value.Path, greatest bool) (v value.Value, ok bool) {
	for _, d := range p.p.Content {
		e := path.Get(d)
		switch c := value.Compare(e, v); {
		case e.Kind() == value.KindDocument || e.Kind() == value.KindArray:
			return v, false // buckets keep these field by field
		case e.IsNullish():
		case v.IsMissing() || greatest && c > 0 || !greatest && c < 0:
			v = e
		}
	}
	return v, true
}

func (p pack) Docs() stage.Iterator {
	p.p.Opened++
	docs := stage.Docs(p.p.Content...)
	return stage.Pull(docs, func() (value.Doc, error) {
		d, err := docs.Next()
		if d == nil && err == nil {
			err = p.p.Err
		}
		return d, err
	})
}
