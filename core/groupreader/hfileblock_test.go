package groupreader

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"hudiscope/core/corrupt"
	"hudiscope/core/hfile"
	"hudiscope/core/logfile"
	"hudiscope/core/schema"
	"hudiscope/core/tabletest"
)

type goldBlock struct {
	Type    string   `json:"type"`
	Records int      `json:"record_count"`
	Keys    []string `json:"keys"`
}

// goldLogs returns the blocks of log files as Hudi's reader gave them, by path.
func goldLogs(t *testing.T, name string) map[string][]goldBlock {
	out := map[string][]goldBlock{}
	for _, file := range []string{"blocks.json", "blocks_metadata.json"} {
		if _, err := os.Stat(filepath.Join(tabletest.Dir(), "gold", name, file)); err != nil {
			continue
		}
		var gold map[string][]goldBlock
		tabletest.Gold(t, name, file, &gold)
		for p, b := range gold {
			out[p] = b
		}
	}
	return out
}

// TestHFileBlocks holds the records of HFile data blocks, of data tables and metadata tables, against
// Hudi's own reader: how many, and their keys.
func TestHFileBlocks(t *testing.T) {
	ctx := context.Background()
	blocks, records := 0, 0
	for _, name := range tabletest.Names(t, "") {
		gold := goldLogs(t, name)
		if len(gold) == 0 {
			continue
		}
		src := tabletest.Open(t, name)
		for file, list := range gold {
			obj, err := src.Open(ctx, file)
			if err != nil {
				t.Fatal(err)
			}
			r := logfile.Open(obj, file)
			for b, err := range r.Blocks(ctx) {
				if err != nil {
					break // the log has no blocks; other tests say so
				}
				if b.Type != logfile.HFileDataBlock || b.Index >= len(list) {
					continue
				}
				want := list[b.Index]
				batch, _, err := DataBlock(ctx, r, b, nil)
				if err != nil {
					t.Errorf("%s/%s block %d: %v", name, file, b.Index, err)
					continue
				}
				if batch.Len != want.Records || want.Type != "HFILE_DATA_BLOCK" {
					t.Errorf("%s/%s block %d: %d records, want %d", name, file, b.Index, batch.Len, want.Records)
					continue
				}
				keys := batch.Column(keyField)
				if keys == nil {
					keys = batch.Column(schema.RecordKeyField)
				}
				for i, k := range want.Keys {
					if got, ok := keys.Text(i); !ok || got != k {
						t.Errorf("%s/%s block %d: key %d is %q, want %q", name, file, b.Index, i, got, k)
					}
				}
				blocks++
				records += batch.Len
				// Some columns only, without the key.
				part, _, err := DataBlock(ctx, r, b, func(f string) bool { return f == schema.CommitTimeField })
				if err != nil || part.Len != batch.Len || part.Column(keyField) != nil {
					t.Errorf("%s/%s block %d: one column: %v", name, file, b.Index, err)
				}
			}
			obj.Close()
		}
	}
	t.Logf("%d HFile data blocks, %d records", blocks, records)
	if blocks < 15 || records < 150 {
		t.Errorf("only %d blocks with %d records", blocks, records)
	}
}

// TestHFileBlockDamage changes the content of a real HFile data block.
func TestHFileBlockDamage(t *testing.T) {
	ctx := context.Background()
	const name, file = "log_block_hfile_h0150", "chennai/.aa2eee57-fd20-433f-b4f6-4f309460e2bb-0_20261129235537188.log.1_2-533-719"
	src := tabletest.Open(t, name)
	whole := src.Bytes(file)
	read := func() (n int, start, size int64, err error) {
		obj, err := src.Open(ctx, file)
		if err != nil {
			t.Fatal(err)
		}
		defer obj.Close()
		r := logfile.Open(obj, file)
		for b, err := range r.Blocks(ctx) {
			if err != nil {
				t.Fatal(err)
			}
			batch, _, err := DataBlock(ctx, r, b, nil)
			if err != nil {
				return 0, b.ContentOffset, b.ContentSize, err
			}
			return batch.Len, b.ContentOffset, b.ContentSize, nil
		}
		t.Fatal("no block")
		return
	}
	n, start, size, err := read()
	if err != nil || n != 2 {
		t.Fatal(n, err)
	}
	errs := 0
	for i := start; i < start+size; i += 3 {
		b := append([]byte{}, whole...)
		b[i] ^= 0x20
		src.Put(file, b)
		n, _, _, err := read()
		if err != nil {
			errs++
			if _, ok := err.(*Unsupported); !ok && !corrupt.Is(err) && !isHFileUnsupported(err) {
				t.Fatalf("byte %d: %v", i, err)
			}
		} else if n != 2 {
			t.Fatalf("byte %d: %d records", i, n)
		}
	}
	if errs < 100 {
		t.Errorf("only %d changes are errors", errs)
	}
}

func isHFileUnsupported(err error) bool {
	var u *hfile.Unsupported
	return errors.As(err, &u)
}
