package query

import (
	"fmt"
	"math/bits"
	"strconv"
)

// maxTasks bounds read.tasks: Flink's greatest parallelism.
const maxTasks = 32768

// routing is how Flink's monitor hands splits on to readers (spec queries.md section 10.5).
type routing uint8

const (
	byGroup  routing = iota // keyed by file group
	byNumber                // split number modulo readers
	byBucket                // bucket and partition
)

// routing chooses the way. Up to 0.15 splits are keyed by file group always.
func (f *Flink) routing() routing {
	switch {
	case f.seq || f.t.Rules.ByRequestedTime:
		return byGroup
	case f.t.Config.MergeOnRead() && f.o.Bucket && !f.o.Insert:
		return byBucket
	case f.o.Insert:
		return byNumber
	}
	return byGroup
}

// Tasks is read.tasks, 0 when it is not given.
func (f *Flink) Tasks() int { return f.o.Tasks }

// Routing says how splits find their readers.
func (f *Flink) Routing() string {
	switch f.routing() {
	case byBucket:
		return fmt.Sprintf("By bucket: a split goes to the reader that its partition's hash and its bucket (of %d) give, so that a bucket is always read by the same one.", f.buckets())
	case byNumber:
		return "By number: the table is written by inserts only, and splits go round."
	}
	return "By file group: splits are keyed by the file id, so that a group is always read by the same reader."
}

// buckets is the number of buckets of a partition.
func (f *Flink) buckets() int {
	if f.o.Buckets > 0 {
		return f.o.Buckets
	}
	if n, err := strconv.Atoi(f.t.Config.Props.Get("hoodie.bucket.index.num.buckets")); err == nil && n > 0 {
		return n
	}
	return 4
}

// Reader is the reader, of tasks, that a streaming read hands a split to.
func (f *Flink) Reader(s *Split, tasks int) int {
	if tasks <= 1 {
		return 0
	}
	switch f.routing() {
	case byNumber:
		return s.Num % tasks
	case byBucket:
		if n, ok := bucketOf(s.FileID); ok {
			start := uint64(javaHash(s.Partition)&0x7fffffff) % uint64(tasks) * uint64(f.buckets())
			return int((start + uint64(n)) % uint64(tasks))
		}
	}
	return keyedReader(s.FileID, tasks)
}

// bucketOf is the bucket in the first eight characters of a file id.
func bucketOf(fileID string) (int, bool) {
	if len(fileID) < 8 {
		return 0, false
	}
	n, err := strconv.Atoi(fileID[:8])
	return n, err == nil && n >= 0
}

// keyedReader is the subtask to which Flink's keyBy sends a text: its key group, of the default number of
// groups for so many subtasks, in the subtask's range.
func keyedReader(key string, tasks int) int {
	groups := min(max(1<<bits.Len(uint(tasks+tasks/2-1)), 128), maxTasks)
	return int(murmur(javaHash(key))) % groups * tasks / groups
}

// murmur is Flink's hash of a hash, never negative.
func murmur(code uint32) int32 {
	code = bits.RotateLeft32(code*0xcc9e2d51, 15) * 0x1b873593
	code = bits.RotateLeft32(code, 13)*5 + 0xe6546b64
	code ^= 4
	code = (code ^ code>>16) * 0x85ebca6b
	code = (code ^ code>>13) * 0xc2b2ae35
	code ^= code >> 16
	switch n := int32(code); {
	case n >= 0:
		return n
	case n != -1<<31:
		return -n
	}
	return 0
}
