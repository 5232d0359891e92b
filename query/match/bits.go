package match

import (
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"

	"github.com/duskdb/duskdb/internal/mongoerr"
	"github.com/duskdb/duskdb/query/expr"
	"github.com/duskdb/duskdb/value"
)

// BitsOp is the operator of a [Bits].
type BitsOp uint8

// The four bit tests.
const (
	BitsAllSet BitsOp = iota
	BitsAllClear
	BitsAnySet
	BitsAnyClear
)

var bitsNames = [...]string{"$bitsAllSet", "$bitsAllClear", "$bitsAnySet", "$bitsAnyClear"}

// String returns the operator's name.
func (o BitsOp) String() string { return bitsNames[o] }

// Bits is one of the $bits tests. Numbers are tested as 64 bits in two's
// complement, binary data as bits of any number, the first byte lowest.
type Bits struct {
	leafPath
	Op        BitsOp
	Positions []uint32
	mask      uint64   // the positions as a mask of 64 bits …
	beyond    []uint32 // … and those above 63, where the sign is repeated
}

func (n *Bits) rank() int { return rankBits + 0 }

func (n *Bits) shape() uint64 { return leafShape(n.Op.String(), n) }

func (n *Bits) explain(x *explainer, inverted bool) { x.leaf(leafOperator(n), n, inverted) }

func (n *Bits) reasons() reasons {
	return reasons{failed: "bitwise operator failed to match", matched: "bitwise operator matched successfully"}
}

func (n *Bits) debug(w *treeWriter, depth int) {
	positions := make([]string, len(n.Positions))
	for i, p := range n.Positions {
		positions[i] = strconv.Itoa(int(p))
	}
	w.line(depth, "%s %s: [%s]", n.Path.String(), n.Op, strings.Join(positions, ", "))
}

func (n *Bits) cheap() bool { return true }

func (n *Bits) match(env *expr.Env, d value.Doc, pos *int) (bool, error) {
	return n.walk(n, env, d, pos)
}

func (n *Bits) matchValue(_ *expr.Env, v value.Value, _ *int) (bool, error) {
	if v.Kind() == value.KindBinary {
		subtype, data := v.Binary()
		if subtype == 2 { // the repeated length of the old subtype counts as data
			data = append(binary.LittleEndian.AppendUint32(nil, uint32(len(data))), data...)
		}
		return n.testBinary(data), nil
	}
	if d := v; d.Kind() == value.KindDecimal && d.Decimal().IsFinite() {
		v = value.DecimalValue(d.Decimal().RoundTo(0, apd.RoundHalfEven)) // mongod looks for fractions of doubles only
	}
	word, ok := v.AsInt64() // no fractions, and only 64-bit integers
	if !ok {
		return false, nil
	}
	return n.testWord(word), nil
}

func (n *Bits) testWord(word int64) bool {
	bits := uint64(word)
	set, clear := bits&n.mask != 0, ^bits&n.mask != 0
	if len(n.beyond) > 0 {
		set, clear = set || word < 0, clear || word >= 0
	}
	return n.result(set, clear)
}

func (n *Bits) testBinary(data []byte) bool {
	set, clear := false, false
	for _, p := range n.Positions {
		i := int(p / 8)
		if i < len(data) && data[i]&(1<<(p%8)) != 0 {
			set = true
		} else {
			clear = true
		}
	}
	return n.result(set, clear)
}

// result returns the result of the test, given whether any of the positions
// is set and whether any is clear.
func (n *Bits) result(set, clear bool) bool {
	switch n.Op {
	case BitsAllSet:
		return !clear
	case BitsAllClear:
		return !set
	case BitsAnySet:
		return set
	}
	return clear
}

func (n *Bits) appendTo(b *value.Builder) { appendLeaf(b, n) }

func (n *Bits) appendOperator(b *value.Builder) {
	b.StartArray(n.Op.String())
	for _, p := range n.Positions {
		b.Int32("", int32(p))
	}
	b.End()
}

// parseBits returns the parser of one of the $bits operators.
func parseBits(op BitsOp) fieldParser {
	return func(_ *parser, path value.Path, _ value.Doc, e element) (Node, error) {
		positions, err := bitPositions(path, e)
		if err != nil {
			return nil, err
		}
		n := &Bits{leafPath: leafPath{Path: path}, Op: op, Positions: positions}
		for _, p := range positions {
			if p < 64 {
				n.mask |= 1 << p
			} else {
				n.beyond = append(n.beyond, p)
			}
		}
		return n, nil
	}
}

// bitPositions reads a mask (number or binary data) or a list of positions.
func bitPositions(path value.Path, e element) (positions []uint32, err error) {
	switch {
	case e.v.Kind() == value.KindArray:
		return listedPositions(e.v.Doc())
	case e.v.IsNumber():
		mask, err := natural(e)
		if err != nil {
			return nil, err
		}
		for i := range uint32(64) {
			if mask>>i&1 != 0 {
				positions = append(positions, i)
			}
		}
		return positions, nil
	case e.v.Kind() == value.KindBinary:
		_, data := e.v.Binary()
		for i, c := range data {
			for j := range 8 {
				if c>>j&1 != 0 {
					positions = append(positions, uint32(i*8+j))
				}
			}
		}
		return positions, nil
	}
	return nil, mongoerr.Newf(mongoerr.BadValue, "%s takes an Array, a number, or a BinData but received: %v", path.String(), e)
}

// listedPositions reads a list of bit positions, which must be whole numbers
// from 0 to 2^31-1.
func listedPositions(list value.Doc) (positions []uint32, err error) {
	it := list.Iter()
	for it.Next() {
		e := element{it.Key(), it.Value()}
		n, err := natural32(e)
		if err != nil {
			return nil, mongoerr.Newf(mongoerr.BadValue, "Failed to parse bit position. %s", mongoerr.From(err).Message)
		}
		positions = append(positions, uint32(n))
	}
	return positions, nil
}
