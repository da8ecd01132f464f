package column

import (
	"encoding/binary"
	"errors"
	"math"

	"hudiscope/core/schema"
)

// ErrBytes says that bytes are not those of AppendBatch.
var ErrBytes = errors.New("the bytes are not those of a batch of rows")

// AppendBatch appends a batch as bytes, column after column, for another program of the same build.
//
//	batch:  rows (varint), for each column 0 (absent) or 1 and a vector
//	vector: 1 and a bit for each slot that is null, or 0; then by the kind of its type
//	        bits | numbers of 8 bytes | tags | offsets of 4 bytes, the bytes; children as vectors
func AppendBatch(dst []byte, b *Batch) []byte {
	dst = binary.AppendUvarint(dst, uint64(b.Len))
	for _, c := range b.Columns {
		if c == nil {
			dst = append(dst, 0)
			continue
		}
		dst = appendVector(append(dst, 1), c, b.Len)
	}
	return dst
}

func appendBools(dst []byte, list []bool) []byte {
	at := len(dst)
	dst = append(dst, make([]byte, (len(list)+7)/8)...)
	for i, set := range list {
		if set {
			dst[at+i/8] |= 1 << (i % 8)
		}
	}
	return dst
}

func appendVector(dst []byte, v *Vector, n int) []byte {
	if v.Nulls == nil {
		dst = append(dst, 0)
	} else {
		dst = appendBools(append(dst, 1), v.Nulls[:n])
	}
	switch v.Type.Kind {
	case schema.Boolean:
		dst = appendBools(dst, v.Bools[:n])
	case schema.Int, schema.Long, schema.Enum:
		for _, x := range v.Ints[:n] {
			dst = binary.LittleEndian.AppendUint64(dst, uint64(x))
		}
	case schema.Float, schema.Double:
		for _, x := range v.Floats[:n] {
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(x))
		}
	case schema.Bytes, schema.String, schema.Fixed:
		first, last := v.Offsets[0], v.Offsets[n]
		dst = appendOffsets(dst, v.Offsets[:n+1])
		dst = append(dst, v.Data[first:last]...)
	case schema.Array, schema.Map:
		dst = appendOffsets(dst, v.Offsets[:n+1])
		for _, c := range v.Children {
			dst = appendVector(dst, c, int(v.Offsets[n]))
		}
	case schema.Union:
		dst = append(dst, v.Tags[:n]...)
		fallthrough
	case schema.Record:
		for _, c := range v.Children {
			dst = appendVector(dst, c, n)
		}
	}
	return dst
}

// appendOffsets appends all offsets but the first, which is 0.
func appendOffsets(dst []byte, offsets []uint32) []byte {
	for _, x := range offsets[1:] {
		dst = binary.LittleEndian.AppendUint32(dst, x-offsets[0])
	}
	return dst
}

// maxBatchRows bounds the rows of a batch that ReadBatch takes.
const maxBatchRows = 1 << 24

// ReadBatch reads a batch of a type that AppendBatch has written, all of p. The batch aliases p.
func ReadBatch(t *schema.Type, p []byte) (*Batch, error) {
	n, k := binary.Uvarint(p)
	if k <= 0 || n > maxBatchRows {
		return nil, ErrBytes
	}
	r := batchReader{p: p[k:]}
	b := &Batch{Type: t, Len: int(n), Columns: make([]*Vector, len(t.Fields))}
	for i := range t.Fields {
		switch r.byte() {
		case 0:
		case 1:
			b.Columns[i] = r.vector(t.Fields[i].Type, int(n))
		default:
			r.bad = true
		}
		if r.bad {
			return nil, ErrBytes
		}
	}
	if len(r.p) > 0 {
		return nil, ErrBytes
	}
	return b, nil
}

type batchReader struct {
	p   []byte
	bad bool
}

func (r *batchReader) take(n int) []byte {
	if n < 0 || n > len(r.p) {
		r.p, r.bad = nil, true
		return nil
	}
	b := r.p[:n:n]
	r.p = r.p[n:]
	return b
}

func (r *batchReader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *batchReader) bools(n int) []bool {
	b := r.take((n + 7) / 8)
	if r.bad {
		return nil
	}
	out := make([]bool, n)
	for i := range out {
		out[i] = b[i/8]>>(i%8)&1 == 1
	}
	return out
}

// offsets reads n+1 offsets, which do not fall.
func (r *batchReader) offsets(n int) []uint32 {
	b := r.take(4 * n)
	if r.bad {
		return nil
	}
	out := make([]uint32, n+1)
	for i := range n {
		out[i+1] = binary.LittleEndian.Uint32(b[4*i:])
		r.bad = r.bad || out[i+1] < out[i]
	}
	return out
}

func (r *batchReader) vector(t *schema.Type, n int) *Vector {
	v := &Vector{Type: t, Len: n}
	switch r.byte() {
	case 0:
	case 1:
		v.Nulls = r.bools(n)
	default:
		r.bad = true
	}
	switch t.Kind {
	case schema.Boolean:
		v.Bools = r.bools(n)
	case schema.Int, schema.Long, schema.Enum:
		if b := r.take(8 * n); !r.bad {
			v.Ints = make([]int64, n)
			for i := range v.Ints {
				v.Ints[i] = int64(binary.LittleEndian.Uint64(b[8*i:]))
			}
		}
	case schema.Float, schema.Double:
		if b := r.take(8 * n); !r.bad {
			v.Floats = make([]float64, n)
			for i := range v.Floats {
				v.Floats[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
			}
		}
	case schema.Bytes, schema.String, schema.Fixed:
		if v.Offsets = r.offsets(n); !r.bad {
			v.Data = r.take(int(v.Offsets[n]))
		}
	case schema.Array:
		if v.Offsets = r.offsets(n); !r.bad {
			v.Children = []*Vector{r.vector(t.Elem, int(v.Offsets[n]))}
		}
	case schema.Map:
		if v.Offsets = r.offsets(n); !r.bad {
			v.Children = []*Vector{r.vector(mapKey, int(v.Offsets[n])), r.vector(t.Elem, int(v.Offsets[n]))}
		}
	case schema.Union:
		v.Tags = r.take(n)
		for _, x := range v.Tags {
			r.bad = r.bad || int(x) >= len(t.Branches)
		}
		for _, b := range t.Branches {
			if !r.bad {
				v.Children = append(v.Children, r.vector(b, n))
			}
		}
	case schema.Record:
		for i := range t.Fields {
			if !r.bad {
				v.Children = append(v.Children, r.vector(t.Fields[i].Type, n))
			}
		}
	}
	return v
}
