package orcfile

// NumStripes is the number of stripes.
func (f *File) NumStripes() int { return len(f.footer.stripes) }

// Stripe tells where stripe i begins and the lengths of its index, its data and its footer, which follow each other,
// in bytes as the footer has them, and how many rows it has. A number that fits no int64 is negative.
func (f *File) Stripe(i int) (offset, index, data, foot, rows int64) {
	s := &f.footer.stripes[i]
	return int64(s.offset), int64(s.index), int64(s.data), int64(s.footer), int64(s.rows)
}

// Tail tells the offsets of the stripe statistics, of the footer and of the postscript. Each ends where the next
// begins, the postscript one byte before the end of the file.
func (f *File) Tail() (metadata, foot, postscript int64) { return f.tail[0], f.tail[1], f.tail[2] }

// Compression is the format's name of the codec.
func (f *File) Compression() string { return f.compression.String() }
