package anatomy_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"hudiscope/core/anatomy"
	"hudiscope/core/api"
	"hudiscope/core/hfile"
	"hudiscope/core/hfile/hfiletest"
	"hudiscope/core/orcfile"
	"hudiscope/core/storage"
	"hudiscope/core/storage/storagetest"
	"hudiscope/core/tabletest"
)

// FuzzRead: the anatomy of any bytes under the name of any format is an answer: its parts lie in the file and account for
// every byte of it, damage is a finding at a byte of the file, and no more is read and held than there are bytes for.
func FuzzRead(f *testing.F) {
	names := []string{"f.parquet", "f.hfile", "f.orc", "f"}
	kept := map[string]int{}
	for _, name := range []string{"mor_trips_h0150", "codec_lz4_h120", "all_types_mor_h120", "mdt_full_h120", "archived_mor_h120", "orc_base_h120"} {
		files := tabletest.Open(f, name)
		for _, p := range files.Paths() {
			ext := path.Ext(p)
			at := map[string]int{".parquet": 1, ".hfile": 2, ".orc": 3}[ext]
			if data := files.Bytes(p); at > 0 && len(data) > 0 && len(data) < 16<<10 && kept[name+ext] < 2 {
				kept[name+ext]++
				f.Add(uint8(at-1), uint8(0), data)
				f.Add(uint8(at-1), uint8(1), data[len(data)/2:])
			}
		}
	}
	for _, o := range []hfiletest.Options{{BlockCells: 3, Levels: 3, Fan: 2}, {Codec: hfile.GZ}, {Checksum: hfile.CRC32C, Meta: map[string][]byte{"m": {1}}}} {
		var cells []hfiletest.Cell
		for _, k := range strings.Split("abcdefghijklmnop", "") {
			cells = append(cells, hfiletest.Cell{Key: []byte(k), Value: []byte("value of " + k)})
		}
		f.Add(uint8(1), uint8(0), hfiletest.Write(cells, o))
	}
	orc, err := os.ReadFile(filepath.Join("..", "orcfile", "testdata", "types_zlib.orc"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint8(2), uint8(0), orc)
	f.Fuzz(func(t *testing.T, name, chunk uint8, data []byte) {
		if len(data) > 1<<20 {
			return
		}
		file := names[int(name)%len(names)]
		src := storagetest.Mem{file: data}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		obj, err := src.Open(ctx, file)
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		a, err := anatomy.Read(ctx, obj, anatomy.Options{Path: file, Chunk: int(chunk) % 8, ORC: func(ctx context.Context, obj storage.Object) (anatomy.Stripes, error) {
			return orcfile.Open(ctx, obj, file)
		}})
		runtime.ReadMemStats(&after)
		if ctx.Err() != nil {
			t.Fatal("it took more than 10 seconds")
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20+400*uint64(len(data)) {
			t.Fatalf("%d bytes were allocated for %d", n, len(data))
		}
		if err != nil {
			var fault *api.Fault
			if !errors.As(err, &fault) || fault.Kind != "invalid request" {
				t.Fatalf("%#v", err)
			}
			return
		}
		if _, err := json.Marshal(a); err != nil {
			t.Fatal(err)
		}
		size := int64(len(data))
		inside := func(what string, start, end int64) {
			if start < 0 || end < start || end > size {
				t.Fatalf("%s: %d to %d of %d bytes", what, start, end, size)
			}
		}
		at := int64(0)
		for _, p := range a.Parts {
			inside(p.Kind+" "+p.Name, p.Start, p.End)
			if p.Start > at {
				t.Fatalf("%d to %d are of no part", at, p.Start)
			}
			at = max(at, p.End)
			for _, q := range p.Parts {
				inside(p.Name+": "+q.Kind+" "+q.Name, q.Start, q.End)
			}
		}
		if at != size {
			t.Fatalf("%d to %d are of no part", at, size)
		}
		for _, x := range a.Findings {
			if x.File != file || x.Offset < 0 || x.Offset > size || x.Title == "" || x.Detail == "" {
				t.Fatalf("%+v", x)
			}
		}
		if a.BytesRead > 4*size+1<<16 {
			t.Fatalf("%d bytes were read of %d", a.BytesRead, size)
		}
	})
}
