package logfile

import (
	"fmt"
	"strconv"
	"strings"

	"hudiscope/core/corrupt"
)

// Magic begins every block.
const Magic = "#HUDI#"

// FormatVersion is the only version of the block frame that was ever written.
const FormatVersion = 1

// BlockType is the kind of a block, by the ordinal in its frame (spec log-format.md section 4).
type BlockType int32

// The block types. CorruptBlock is never stored: the reader makes such blocks. UnknownBlock is the
// type of a damaged block whose type field could not be read.
const (
	UnknownBlock     BlockType = -1
	CommandBlock     BlockType = 0
	DeleteBlock      BlockType = 1
	CorruptBlock     BlockType = 2
	AvroDataBlock    BlockType = 3
	HFileDataBlock   BlockType = 4
	ParquetDataBlock BlockType = 5 // since table version 4
	CDCDataBlock     BlockType = 6 // since table version 6
)

// String returns Hudi's name of the type.
func (t BlockType) String() string {
	switch t {
	case CommandBlock:
		return "COMMAND_BLOCK"
	case DeleteBlock:
		return "DELETE_BLOCK"
	case CorruptBlock:
		return "CORRUPT_BLOCK"
	case AvroDataBlock:
		return "AVRO_DATA_BLOCK"
	case HFileDataBlock:
		return "HFILE_DATA_BLOCK"
	case ParquetDataBlock:
		return "PARQUET_DATA_BLOCK"
	case CDCDataBlock:
		return "CDC_DATA_BLOCK"
	}
	return "unknown(" + strconv.Itoa(int(t)) + ")"
}

// IsData reports whether blocks of the type hold records that a read merges.
func (t BlockType) IsData() bool {
	return t == AvroDataBlock || t == HFileDataBlock || t == ParquetDataBlock
}

// Key is the ordinal of a header or footer entry (spec log-format.md section 3.2).
type Key int32

// The header keys.
const (
	InstantTime       Key = 0
	TargetInstantTime Key = 1
	Schema            Key = 2
	CommandBlockType  Key = 3
	// CompactedBlockTimes lists the instants a log compaction replaces; since table version 5.
	CompactedBlockTimes Key = 4
	// RecordPositions is a bitmap, see [DecodePositions]; since table version 6.
	RecordPositions Key = 5
	// BlockIdentifier tells the copies of task retries apart; written by 0.14 only.
	BlockIdentifier Key = 6
	// IsPartial marks partial updates; since table version 8.
	IsPartial Key = 7
	// BaseFileInstant is the instant of the base file the positions refer to; since table version 8.
	BaseFileInstant Key = 8
)

var keyNames = [...]string{"INSTANT_TIME", "TARGET_INSTANT_TIME", "SCHEMA", "COMMAND_BLOCK_TYPE", "COMPACTED_BLOCK_TIMES",
	"RECORD_POSITIONS", "BLOCK_IDENTIFIER", "IS_PARTIAL", "BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS"}

// String returns Hudi's name of the key.
func (k Key) String() string {
	if k >= 0 && int(k) < len(keyNames) {
		return keyNames[k]
	}
	return "unknown(" + strconv.Itoa(int(k)) + ")"
}

// Entry is one entry of a header or footer.
type Entry struct {
	Key   Key
	Value string
	// Offset is where the entry (its key ordinal) begins; the value begins 8 bytes on.
	Offset int64
}

// Entries are the entries of a header or footer in the order they are stored.
type Entries []Entry

// Get returns the value of a key; the last one counts where a key is repeated.
func (e Entries) Get(k Key) (string, bool) {
	for i := len(e) - 1; i >= 0; i-- {
		if e[i].Key == k {
			return e[i].Value, true
		}
	}
	return "", false
}

// Cause says why a block is corrupt.
type Cause uint8

// The causes, in the order they are checked.
const (
	SizeCut       Cause = iota + 1 // fewer than 8 bytes follow the magic
	SizeNegative                   // the block size is below zero
	SizeBeyondEnd                  // the block would end after the end of the file
	SizeMismatch                   // the length at the block's end is not that of its start
	NoMagicBehind                  // what follows the block is neither a magic nor the end of the file
)

// Corruption tells why a block is corrupt and what it claimed.
type Corruption struct {
	Cause Cause
	// Offset is where the check failed.
	Offset int64
	// BlockSize is what the block claims, and ReverseLength what stands at its claimed end
	// (meaningful from SizeMismatch on).
	BlockSize, ReverseLength int64
	// Reason is one sentence.
	Reason string
}

// Block is the frame of one block. All offsets are absolute, in bytes.
type Block struct {
	// Index in the file, from 0; -1 when reading backwards.
	Index int
	Type  BlockType
	// FormatVersion is the version field of the frame.
	FormatVersion int32
	// Start is the offset of the magic, End the offset behind the block. The content of a
	// corrupt block is all that follows its magic.
	Start, ContentOffset, ContentSize, End int64
	// BlockSize and ReverseLength are the fields as stored.
	BlockSize, ReverseLength int64
	Header, Footer           Entries
	// Corruption is set for corrupt blocks only.
	Corruption *Corruption
	// Regions is how many stretches from one magic to the next a corrupt block is: each is a block of its own for Hudi, and
	// here in the first 65536 blocks of a file. Only a file that was made up has more; 0 for other blocks.
	Regions int
	// Damage is set for a block whose size is right but whose inside is not: what is wrong,
	// and where. Its other fields hold what could be read; its content must not be used.
	Damage *corrupt.Error

	headerAt, lengthAt, footerAt, reverseAt int64 // 0 when not reached

	// counted is set when what was read for the frame held the beginning of the content, too; records
	// is then what RecordCount answers.
	counted bool
	records int64
}

// Instant returns the instant that wrote the block, "" when the header has none (archived
// timelines, corrupt blocks).
func (b *Block) Instant() string { s, _ := b.Header.Get(InstantTime); return s }

// Target returns the instant a command block rolls back.
func (b *Block) Target() string { s, _ := b.Header.Get(TargetInstantTime); return s }

// SchemaText returns the writer's schema, Avro JSON, or "".
func (b *Block) SchemaText() string { s, _ := b.Header.Get(Schema); return s }

// IsRollback reports whether the block is a rollback command. That is the only command:
// a command block of another type, or with none, is not known to any release.
func (b *Block) IsRollback() bool {
	s, ok := b.Header.Get(CommandBlockType)
	return b.Type == CommandBlock && ok && s == "0"
}

// CompactedTimes returns the instants whose blocks this block replaces (log compaction),
// nil when it is not a compacted block.
func (b *Block) CompactedTimes() []string {
	s, ok := b.Header.Get(CompactedBlockTimes)
	if !ok {
		return nil
	}
	out := strings.Split(s, ",")
	for i := range out {
		out[i] = strings.TrimSpace(out[i])
	}
	return out
}

// IsPartial reports whether the records are partial updates.
func (b *Block) IsPartial() bool {
	s, _ := b.Header.Get(IsPartial)
	return strings.EqualFold(s, "true")
}

// Span is a named range of bytes of the file, for a byte view.
type Span struct {
	Name string
	// Start and End are absolute.
	Start, End int64
	// Value is the decoded value in a few words.
	Value string
}

// Layout returns the parts of the block in file order; they cover it without gaps.
func (b *Block) Layout() []Span {
	out := make([]Span, 0, 9+len(b.Header)+len(b.Footer))
	at := b.Start
	add := func(name string, end int64, value string) {
		if end > at && end <= b.End {
			out = append(out, Span{name, at, end, value})
			at = end
		}
	}
	add("magic", b.Start+6, Magic)
	if b.Type == CorruptBlock {
		add("corrupt bytes", b.End, "")
		return out
	}
	add("block size", b.Start+14, strconv.FormatInt(b.BlockSize, 10))
	if b.headerAt > 0 {
		add("format version", b.Start+18, strconv.Itoa(int(b.FormatVersion)))
		add("block type", b.Start+22, b.Type.String())
	}
	entries := func(kind string, start int64, list Entries) {
		if start == 0 {
			return
		}
		add(kind+" count", start+4, strconv.Itoa(len(list)))
		for _, e := range list {
			add(kind+" "+e.Key.String(), e.Offset+8+int64(len(e.Value)), clip(e.Value))
		}
	}
	if b.lengthAt > 0 {
		entries("header", b.headerAt, b.Header)
		add("content length", b.lengthAt+8, strconv.FormatInt(b.ContentSize, 10))
	}
	if b.footerAt > 0 {
		add("content", b.ContentOffset+b.ContentSize, fmt.Sprintf("%d bytes", b.ContentSize))
	}
	if b.reverseAt > 0 {
		entries("footer", b.footerAt, b.Footer)
		add("reverse length", b.reverseAt+8, strconv.FormatInt(b.ReverseLength, 10))
	}
	add("undecoded bytes", b.End, "")
	return out
}

func clip(s string) string {
	const most = 120
	if len(s) <= most {
		return s
	}
	n := most
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return s[:n] + "…"
}
