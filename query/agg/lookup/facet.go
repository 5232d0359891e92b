package lookup

import (
	"encoding/binary"
	"strings"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/agg/pipeline"
	"github.com/duskdb/duskdb/query/agg/spill"
	"github.com/duskdb/duskdb/query/agg/stage"
	"github.com/duskdb/duskdb/value"
)

// facetStage is $facet: several pipelines over the same documents.
type facetStage struct {
	names  []string
	facets []*pipeline.Pipeline
}

// ParseFacet compiles $facet.
func ParseFacet(p *stage.Parser, v value.Value) ([]stage.Stage, error) {
	if v.Kind() != value.KindDocument || v.Doc().IsEmpty() {
		return nil, mongoerr.Newf(40169, "the $facet specification must be a non-empty object, but found: $facet: %s", v)
	}
	sub, err := p.Sub("$facet")
	if err != nil {
		return nil, err
	}
	sub.Text = nil
	s := &facetStage{}
	for k, f := range v.Doc().All() {
		if err := stage.CheckFieldName(k); err != nil {
			return nil, err
		}
		if f.Kind() != value.KindArray {
			return nil, mongoerr.Newf(40170, "arguments to $facet must be arrays, %s is type %s", k, f.Kind())
		}
		for e := range f.Doc().Values() {
			if e.Kind() != value.KindDocument {
				return nil, mongoerr.Newf(40171, "elements of arrays in $facet spec must be non-empty objects, %s argument contained an element of type %s: %s", k, e.Kind(), e)
			}
		}
		facet, err := pipeline.Compile(sub, f.Doc())
		if err != nil {
			return nil, err
		}
		s.names, s.facets = append(s.names, strings.Clone(k)), append(s.facets, facet)
	}
	return []stage.Stage{s}, nil
}

func (s *facetStage) Name() string { return "$facet" }

func (s *facetStage) Spec() value.Value {
	b := value.NewBuilder()
	for i, name := range s.names {
		b.StartArray(name)
		for _, st := range s.facets[i].Stages() {
			b.StartDocument("").Append(st.Name(), st.Spec()).End()
		}
		b.End()
	}
	return value.Document(b.Doc())
}

func (s *facetStage) Deps(d *stage.Deps) stage.Reach {
	for _, f := range s.facets {
		fd, ok := pipeline.Dependencies(f.Stages())
		if !ok || fd.Whole {
			d.All()
			return stage.SeesNone
		}
		for path := range fd.Paths {
			d.Add(path)
		}
	}
	return stage.SeesNone
}

func (s *facetStage) Effect() stage.Effect { return stage.Effect{Opaque: true} }

func (*facetStage) AppendStats(b *value.Builder, st *stage.Stats) { st.AppendDisk(b) }

func (s *facetStage) Involved() (out []string) {
	for _, f := range s.facets {
		out = append(out, f.Namespaces()...)
	}
	return out
}

func (s *facetStage) Open(x *stage.Exec, src stage.Iterator) (stage.Iterator, error) {
	return stage.Lazy(src, func() (stage.Iterator, error) {
		in := &facetInput{x: x, s: s, store: spill.Store{Dir: x.TempDir}}
		defer func() { _ = in.store.Close() }()
		if err := in.fill(src); err != nil {
			return nil, err
		}
		d, err := s.run(x, in)
		if err != nil {
			return nil, err
		}
		return stage.Docs(d), nil
	}), nil
}

// run runs all facets over the input and returns the result document.
func (s *facetStage) run(x *stage.Exec, in *facetInput) (value.Doc, error) {
	b := value.NewBuilder()
	var claim stage.Claim // of the document
	for i, f := range s.facets {
		if x.Interrupt != nil {
			if err := x.Interrupt(); err != nil {
				return nil, err
			}
		}
		inner := x.Sub()
		src, err := in.open(inner)
		if err != nil {
			return nil, err
		}
		it, err := f.Run(inner, src)
		if err != nil {
			return nil, err
		}
		b.StartArray(s.names[i])
		err = appendFacet(b, it, stage.OrDefault(x.Limits.FacetDoc), func(n int) error { return claim.Grow(x, int64(n)) })
		it.Close()
		if err != nil {
			return nil, err
		}
		b.End()
	}
	return b.Doc(), nil
}

const (
	elementHead = 16       // bytes of an element of an array in front of its document
	minGrowth   = 64 << 10 // of the document
)

// appendFacet writes the results of a facet. limit bounds the size of the whole
// document, whose memory is claimed.
func appendFacet(b *value.Builder, it stage.Iterator, limit int64, claim func(n int) error) error {
	for {
		d, err := it.Next()
		if d == nil || err != nil {
			return err
		}
		if need := len(d) + elementHead; b.Len()+need > cap(b.Bytes()) {
			more := max(need, b.Len()/4, minGrowth)
			if err := claim(2*b.Len() + more); err != nil { // it is copied to grow
				return err
			}
			b.Grow(more)
		}
		b.Document("", d)
		if int64(b.Len()) > limit {
			return mongoerr.Newf(4031700, "document constructed by $facet is %d bytes, which exceeds the limit of %d bytes", b.Len(), limit)
		}
	}
}

// facetInput keeps the input of a $facet, which each facet reads once. It keeps in
// memory what fits, and the rest on disk.
type facetInput struct {
	x     *stage.Exec
	s     *facetStage
	docs  []stage.MetaDoc
	size  int64
	claim stage.Claim
	n     uint64 // documents on disk
	store spill.Store
}

func (in *facetInput) fill(src stage.Iterator) error {
	for {
		d, err := src.Next()
		if err != nil {
			return err
		}
		if d == nil {
			src.Close()
			return nil
		}
		in.docs = append(in.docs, stage.MetaDoc{Doc: d, Meta: in.x.Env.Meta})
		if in.size += int64(len(d)) + 24; in.size > in.x.Limit(in.x.Limits.Facet) {
			if err := in.spill(); err != nil {
				return err
			}
		}
		if err := in.claim.Grow(in.x, in.size); err != nil {
			return err
		}
	}
}

func (in *facetInput) spill() error {
	if !in.x.AllowDiskUse {
		return mongoerr.New(mongoerr.QueryExceededMemoryLimitNoDiskUseAllowed,
			"Exceeded memory limit for $facet, but didn't allow external sort. Pass allowDiskUse:true to opt in.")
	}
	before := in.store.Size()
	var key [8]byte
	var buf []byte
	err := in.store.Write(len(in.docs), func(i int) ([]byte, []byte) {
		binary.BigEndian.PutUint64(key[:], in.n+uint64(i))
		buf = append(stage.AppendMeta(buf[:0], in.docs[i].Meta), in.docs[i].Doc...)
		return key[:], buf
	})
	if err != nil {
		return stage.DiskError(err)
	}
	in.x.Spilled(in.s, in.store.Size()-before)
	in.n += uint64(len(in.docs))
	in.docs, in.size = nil, 0
	return nil
}

// open reads the input from its start, for a run of a facet.
func (in *facetInput) open(x *stage.Exec) (stage.Iterator, error) {
	rest := stage.MetaDocs(x.Env, in.docs)
	if in.store.Runs() == 0 {
		return rest, nil
	}
	m, err := in.store.Merge()
	if err != nil {
		return nil, stage.DiskError(err)
	}
	return stage.Pull(nil, func() (doc value.Doc, err error) {
		_, payload, ok, err := m.Next()
		if err != nil {
			return nil, stage.DiskError(err)
		}
		if !ok {
			return rest.Next()
		}
		x.Env.Meta, doc = stage.SplitMeta(payload)
		return doc, nil
	}), nil
}
