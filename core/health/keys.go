package health

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"

	"hudiscope/core/api"
)

// KeyAt is a record key and the file slice it was read from.
type KeyAt struct {
	Partition, FileID, BaseInstant string
	Key                            []byte
}

// duplicateKeys looks for record keys that occur more than once. The first pass keeps a 64-bit
// hash of every key and sorts them; only when two are equal a second pass reads the keys again
// and compares those with such a hash, so that every key reported is truly there twice.
func duplicateKeys(ctx context.Context, in *Input) ([]api.HealthFinding, string, error) {
	if in.Keys == nil {
		return nil, "The record keys were not read.", nil
	}
	seed, most := maphash.MakeSeed(), int64(in.limit("keys.max"))
	var hashes []uint64
	cut := false
	err := in.Keys(ctx, func(k KeyAt) bool {
		if int64(len(hashes)) >= most {
			cut = true
			return false
		}
		hashes = append(hashes, maphash.Bytes(seed, k.Key))
		return true
	})
	if err != nil {
		return nil, "", err
	}
	in.keys = int64(len(hashes))
	note := ""
	if cut {
		note = fmt.Sprintf("Only the first %d keys were looked at (threshold keys.max).", most)
	}
	slices.Sort(hashes)
	twice := map[uint64]bool{}
	for i := 1; i < len(hashes) && len(twice) < maxTwice; i++ {
		if hashes[i] == hashes[i-1] {
			twice[hashes[i]] = true
		}
	}
	read := int64(len(hashes))
	hashes = nil
	if len(twice) == 0 {
		return nil, note, nil
	}
	first := map[string][]KeyAt{}
	var order []string
	n := int64(0)
	err = in.Keys(ctx, func(k KeyAt) bool {
		if n++; n > read {
			return false
		}
		if !twice[maphash.Bytes(seed, k.Key)] {
			return true
		}
		key := string(k.Key)
		if first[key] == nil {
			order = append(order, key)
		}
		k.Key = nil
		first[key] = append(first[key], k)
		return true
	})
	if err != nil {
		return nil, "", err
	}
	within := newFinding("error", "Record keys more than once in one partition")
	within.Hudi = "Queries return all of them. An index finds one place of a key, so updates change one copy only. Causes: bulk inserts, inserts without dropping duplicates, writers without locks, a changed index type."
	across := newFinding("note", "Record keys in several partitions")
	across.Hudi = "That is as it should be with an index by partition (BLOOM, SIMPLE, BUCKET); with a global index (GLOBAL_BLOOM, GLOBAL_SIMPLE, RECORD_INDEX) it is a fault."
	for _, key := range order {
		at := first[key]
		if len(at) < 2 {
			continue
		}
		parts := map[string]int{}
		text := fmt.Sprintf("key %q: ", key)
		same := false
		for i, k := range at {
			parts[k.Partition]++
			same = same || parts[k.Partition] > 1
			if i < 4 {
				if i > 0 {
					text += ", "
				}
				text += fmt.Sprintf("%s file group %s slice %s", where(k.Partition), k.FileID, k.BaseInstant)
			}
		}
		if len(at) > 4 {
			text += fmt.Sprintf(" and %d more", len(at)-4)
		}
		f := across
		if same {
			f = within
		}
		f.add(api.HealthEvidence{Text: text, Instant: at[0].BaseInstant, Partition: at[0].Partition, FileID: at[0].FileID, Value: float64(len(at)), Unit: "records"})
		if f.Count == 1 {
			f.Link = api.HealthLink{View: "files", Partition: at[0].Partition, FileID: at[0].FileID, BaseInstant: at[0].BaseInstant}
		}
	}
	more := ""
	if len(twice) >= maxTwice {
		more = " There are more; the search stopped here."
	}
	within.Detail = fmt.Sprintf("%s of %d occur more than once in a partition.%s", plural(within.Count, "record key"), read, more)
	across.Detail = fmt.Sprintf("%s of %d occur in more than one partition.%s", plural(across.Count, "record key"), read, more)
	return slices.Concat(within.list(), across.list()), note, nil
}

// maxTwice bounds the duplicate keys that are looked at closely.
const maxTwice = 100_000
