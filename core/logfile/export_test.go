package logfile

// SameCount lets b know the record count of another block, which depends on what was read beside the frame.
func SameCount(b, of *Block) { b.records, b.counted = of.records, of.counted }

// Bounds sets what bounds the blocks of a file until the function it returns is called.
func Bounds(several, most int) (restore func()) {
	a, b := severalFrom, maxBlocks
	severalFrom, maxBlocks = several, most
	return func() { severalFrom, maxBlocks = a, b }
}
