//go:build !js

package robust_test

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"

	"hudiscope/core/api"
	"hudiscope/core/commitmeta"
	"hudiscope/core/logfile/logfiletest"
	"hudiscope/fsadapter/zipfs"
)

// commitSchema is the schema of a commit as far as these tests need it.
const commitSchema = `{"type":"record","name":"HoodieCommitMetadata","fields":[
	{"name":"partitionToWriteStats","type":["null",{"type":"map","values":{"type":"array","items":{"type":"record","name":"HoodieWriteStat","fields":[
		{"name":"fileId","type":["null","string"],"default":null},{"name":"path","type":["null","string"],"default":null},
		{"name":"numWrites","type":["null","long"],"default":null},{"name":"prevCommit","type":["null","string"],"default":null}]}}}],"default":null},
	{"name":"extraMetadata","type":["null",{"type":"map","values":"string"}],"default":null},
	{"name":"operationType","type":["null","string"],"default":null}]}`

// packedContainer is an Avro container with one block.
func packedContainer(schema, codec string, block []byte) []byte {
	sync := bytes.Repeat([]byte{7}, 16)
	text := func(b []byte, s string) []byte { return append(logfiletest.Long(b, int64(len(s))), s...) }
	out := logfiletest.Long([]byte("Obj\x01"), 2)
	out = text(text(out, "avro.schema"), schema)
	out = text(text(out, "avro.codec"), codec)
	out = append(append(out, 0), sync...)
	out = logfiletest.Long(logfiletest.Long(out, 1), int64(len(block)))
	return append(append(out, block...), sync...)
}

// deflated packs head and n zero bytes.
func deflated(t testing.TB, head []byte, n int64) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, 9)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = w.Write(head); err == nil {
		_, err = io.CopyN(w, zeros{}, n)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// peak runs f and returns the most memory that was held meanwhile, in bytes, above what was held before.
func peak(t testing.TB, f func()) int64 {
	t.Helper()
	held := func() int64 {
		m := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(m) // without stopping the program, as runtime.ReadMemStats does
		return int64(m[0].Value.Uint64())
	}
	runtime.GC()
	before, most := held(), int64(0)
	stop := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		for {
			most = max(most, held()-before)
			select {
			case <-stop:
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	})
	f()
	close(stop)
	watch.Wait()
	return most
}

// TestManyBombs: many commits, each of which would unpack to 200 MiB, are each refused by name and byte. Nothing is held for
// them, however many are read at once.
func TestManyBombs(t *testing.T) {
	block := deflated(t, []byte{0, 0, 0}, 200<<20)
	bomb := packedContainer(commitSchema, "deflate", block)
	b := one(t, 9, nil, []row{rowOf(at(1), "k", 1, "x", 1)})
	const n = 20
	for i := range n {
		b.pending("deltacommit", 2+i, nil)
		b.Put(b.completed("deltacommit", 2+i), bomb)
	}
	s := service(b)
	var h *api.Health
	var err error
	most := peak(t, func() {
		if f := bounded(t, "health", func(ctx context.Context) error {
			h, err = s.Health(ctx, api.HealthRequest{Table: here})
			return err
		}); f != nil {
			t.Fatal(f)
		}
		_ = bounded(t, "rows", func(ctx context.Context) error { return allOf(ctx, s) })
	})
	if most > 64<<20 {
		t.Errorf("%d MiB were held", most>>20)
	}
	where := fmt.Sprintf("at byte %d", len(bomb)-16-len(block))
	ill(t, b, "damaged-instants", b.completed("deltacommit", 2), where, "deflate")
	if h == nil || h.Level != "error" || h.Findings[0].Count != n {
		t.Errorf("not all are found: %+v", h)
	}
}

// TestSwellingCommits: small files that decode to very much are refused: stats without content, values of no bytes.
func TestSwellingCommits(t *testing.T) {
	stats := func(n int) []byte { return logfiletest.Long([]byte{2, 2, 2, 'p'}, int64(n)) } // each is four zeros
	nothing := logfiletest.Long(nil, 100<<20)                                               // elements of no bytes
	files := map[string][]byte{
		"json objects":     []byte(`{"partitionToWriteStats":{"p":[{}` + strings.Repeat(",{}", 5<<20) + `]}}`),
		"json values":      []byte(`{"partitionToReplaceFileIds":{"p":[""` + strings.Repeat(`,""`, 13<<20) + `]}}`),
		"packed stats":     packedContainer(commitSchema, "deflate", deflated(t, stats(10<<20), 40<<20+4)),
		"plain stats":      packedContainer(commitSchema, "null", append(stats(8<<20), make([]byte, 32<<20+4)...)),
		"nulls":            packedContainer(`{"type":"record","name":"HoodieCommitMetadata","fields":[{"name":"a","type":{"type":"array","items":"null"}}]}`, "null", append(nothing, 0)),
		"a huge number":    []byte(`{"compacted":` + strings.Repeat("1", 8<<20) + `}`),
		"a long codec":     packedContainer(commitSchema, strings.Repeat("x", 8<<20), []byte{0, 0, 0}),
		"a long type name": packedContainer(strings.Replace(commitSchema, "HoodieCommitMetadata", strings.Repeat("x", 1<<20), 1), "null", []byte{0, 0, 0}),
	}
	for name, file := range files {
		var err error
		most := peak(t, func() { _, err = commitmeta.ParseCommit(file) })
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		if most > 400<<20 {
			t.Errorf("%s: %d MiB were held", name, most>>20)
		}
		if len(err.Error()) > 1000 {
			t.Errorf("%s: the error has %d bytes", name, len(err.Error()))
		}
	}
}

// TestLargeCommits: the commit of 100,000 files is read, plain and packed, from JSON and from Avro.
func TestLargeCommits(t *testing.T) {
	const n = 100_000
	avro := logfiletest.Long([]byte{2, 2, 2, 'p'}, n)
	text := bytes.NewBufferString(`{"partitionToWriteStats":{"p":[`)
	str := func(b []byte, s string) []byte { return append(logfiletest.Long(append(b, 2), int64(len(s))), s...) }
	seed := uint64(1)
	for i := range n {
		var id [16]byte
		for k := 0; k < 16; k += 8 {
			seed = seed*6364136223846793005 + 1442695040888963407
			binary.BigEndian.PutUint64(id[k:], seed^seed>>29)
		}
		file := fmt.Sprintf("%x-0", id)
		path := fmt.Sprintf("p/%s_%d-1-%d_%s.parquet", file, i%200, i, at(1))
		avro = str(str(avro, file), path)
		avro = logfiletest.Long(append(avro, 2), int64(i))
		avro = str(avro, "null")
		if i > 0 {
			text.WriteByte(',')
		}
		fmt.Fprintf(text, `{"fileId":%q,"path":%q,"prevCommit":"null","numWrites":%d,"runtimeStats":{"totalScanTime":1,"totalUpsertTime":2,"totalCreateTime":3},"cdcStats":null,"x":%q}`, file, path, i, strings.Repeat("n", 700))
	}
	text.WriteString(`]}}`)
	avro = append(avro, 0, 0, 0, 0)
	packed := deflated(t, avro, 0)
	t.Logf("%d bytes of JSON, %d of Avro, %d packed: %d times", text.Len(), len(avro), len(packed), len(avro)/len(packed))
	if len(avro)/len(packed) > 30 {
		t.Error("the made commit packs better than real ones")
	}
	for name, file := range map[string][]byte{"json": text.Bytes(), "avro": packedContainer(commitSchema, "null", avro), "deflate": packedContainer(commitSchema, "deflate", packed)} {
		var m *commitmeta.CommitMetadata
		var err error
		most := peak(t, func() { m, err = commitmeta.ParseCommit(file) })
		t.Logf("%s: %d MiB held", name, most>>20)
		if err != nil || len(m.Partitions) != 1 || len(m.Partitions[0].Stats) != n || m.Partitions[0].Stats[n-1].NumWrites != n-1 {
			t.Errorf("%s: %v", name, err)
		}
		if most > 400<<20 {
			t.Errorf("%s: %d MiB were held", name, most>>20)
		}
	}
	// Six at once hold no more than what the decoders may hold together.
	file := packedContainer(commitSchema, "deflate", packed)
	most := peak(t, func() {
		var all sync.WaitGroup
		for range 6 {
			all.Go(func() {
				if _, err := commitmeta.ParseCommit(file); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	})
	t.Logf("six at once: %d MiB held", most>>20)
	if most > 600<<20 {
		t.Errorf("six at once: %d MiB were held", most>>20)
	}
}

// TestBombsInZips: commits of 48 MiB of blanks each, in a zip of some 100 KiB, are read one after the other.
func TestBombsInZips(t *testing.T) {
	b := one(t, 6, nil, []row{rowOf(at(1), "k", 1, "x", 1)})
	files := map[string][]byte{}
	blanks := append(bytes.Repeat([]byte{' '}, 48<<20), `{"partitionToWriteStats":{}}`...)
	for _, p := range b.Paths() {
		files["t/"+p] = b.Bytes(p)
	}
	for i := range 6 {
		files["t/"+b.completed("deltacommit", 2+i)] = blanks
	}
	archive := zipOf(t, files)
	src, err := zipfs.New(t.Context(), logfiletest.NewObject(archive), "bombs.zip", zipfs.Options{Budget: 256 << 20})
	if err != nil {
		t.Fatal(err)
	}
	most := peak(t, func() {
		if _, err := service(src).Health(t.Context(), api.HealthRequest{Table: here}); err != nil {
			t.Error(err)
		}
	})
	t.Logf("%d bytes of archive, %d MiB held", len(archive), most>>20)
	if most > 900<<20 {
		t.Errorf("%d MiB were held", most>>20)
	}
}

// TestHealthNamesTheCommit: a schema that contains itself, and partitions outside of the table, are findings of their commit.
func TestHealthNamesTheCommit(t *testing.T) {
	b := one(t, 6, nil, []row{rowOf(at(1), "k", 1, "x", 1)})
	b.schema = `{"type":"record","name":"r","fields":[{"name":"a","type":["null","r"]}]}`
	b.commit("deltacommit", 2)
	ill(t, b, "damaged-instants", at(2), "contains itself", "at byte")

	b = one(t, 6, nil, []row{rowOf(at(1), "k", 1, "x", 1)})
	b.commitOf("deltacommit", 2, "UPSERT", map[string]any{"partitionToWriteStats": map[string]any{"/etc": []any{}, "../../../../etc": []any{}, "a/../b": []any{}}})
	for _, p := range []string{`"/etc"`, `"../../../../etc"`} {
		ill(t, b, "damaged-instants", at(2), p)
	}
}

// TestBombsInTheArchive: rows of an archived timeline that unpack or decode to very much are damage of their instants.
func TestBombsInTheArchive(t *testing.T) {
	bomb := packedContainer(commitSchema, "deflate", deflated(t, []byte{0, 0, 0}, 200<<20))
	b := one(t, 9, nil, []row{rowOf(at(1), "k", 1, "x", 1)})
	list := []int{}
	for i := range 10 {
		b.pending("deltacommit", 2+i, nil)
		b.Put(b.completed("deltacommit", 2+i), bomb)
		list = append(list, 2+i)
	}
	b.archive("deltacommit", list...)
	b.commit("deltacommit", 20)
	s := service(b)
	most := peak(t, func() {
		d, err := s.Instant(t.Context(), api.InstantRequest{Table: here, Requested: at(2)})
		if err != nil {
			t.Fatal(err)
		}
		says(t, "the instant", d.Work.Findings, at(2), "deflate", "unpacked from")
		for _, op := range []api.Op{api.OpTimeline, api.OpHealth, api.OpRows, api.OpRelations, api.OpFiles} {
			if _, err := s.Do(t.Context(), op, []byte(`{"table":"x","archived":true}`), nil); err != nil {
				t.Logf("%s: %v", op, err)
			}
		}
	})
	t.Logf("%d MiB held", most>>20)
	if most > 64<<20 {
		t.Errorf("%d MiB were held", most>>20)
	}
}
