package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"

	"hudiscope/core/hfile/hfiletest"
	"hudiscope/core/logfile"
	"hudiscope/core/logfile/logfiletest"
)

// instant is the name of instant number n: they are 90 seconds apart.
func instant(n int) string {
	return time.Date(2020, 1, 1, 0, 0, 0, 1e6, time.UTC).Add(time.Duration(n)*90*time.Second).Format("20060102150405") + "001"
}

const (
	metaFields = `{"name":"_hoodie_commit_time","type":["null","string"],"default":null},{"name":"_hoodie_commit_seqno","type":["null","string"],"default":null},` +
		`{"name":"_hoodie_record_key","type":["null","string"],"default":null},{"name":"_hoodie_partition_path","type":["null","string"],"default":null},{"name":"_hoodie_file_name","type":["null","string"],"default":null}`
	dataFields = `{"name":"id","type":["null","string"],"default":null},{"name":"ts","type":["null","long"],"default":null},{"name":"text","type":["null","string"],"default":null},{"name":"p","type":["null","string"],"default":null}`
)

// The schemas of the tables and of log blocks.
var (
	tableSchema = `{"type":"record","name":"r","fields":[` + dataFields + `]}`
	blockSchema = `{"type":"record","name":"r","fields":[` + metaFields + `,` + dataFields + `]}`
)

// row is a row of a base file.
type row struct {
	Commit string `parquet:"_hoodie_commit_time,optional"`
	Seq    string `parquet:"_hoodie_commit_seqno,optional"`
	Key    string `parquet:"_hoodie_record_key,optional"`
	Part   string `parquet:"_hoodie_partition_path,optional"`
	File   string `parquet:"_hoodie_file_name,optional"`
	ID     string `parquet:"id,optional"`
	TS     int64  `parquet:"ts,optional"`
	Text   string `parquet:"text,optional"`
	P      string `parquet:"p,optional"`
}

// writer writes the files of a table of version 6 below a directory. The first error stays.
type writer struct {
	dir  string
	made map[string]bool
	err  error
}

func (w *writer) put(name string, data []byte) {
	if w.err != nil {
		return
	}
	name = filepath.Join(w.dir, filepath.FromSlash(name))
	if dir := filepath.Dir(name); !w.made[dir] {
		if w.err = os.MkdirAll(dir, 0o755); w.err != nil {
			return
		}
		w.made[dir] = true
	}
	w.err = os.WriteFile(name, data, 0o644)
}

// table starts a table: kind is COPY_ON_WRITE or MERGE_ON_READ; more are properties.
func newTable(dir, kind string, more ...string) *writer {
	w := &writer{dir: dir, made: map[string]bool{}}
	w.put(".hoodie/hoodie.properties", []byte(strings.Join(append([]string{"hoodie.table.name=growth", "hoodie.table.type=" + kind, "hoodie.table.version=6", "hoodie.timeline.layout.version=1",
		"hoodie.table.recordkey.fields=id", "hoodie.table.precombine.field=ts", "hoodie.table.base.file.format=PARQUET", "hoodie.populate.meta.fields=true",
		"hoodie.archivelog.folder=archived", "hoodie.compaction.payload.class=org.apache.hudi.common.model.DefaultHoodieRecordPayload", "hoodie.table.create.schema=" + tableSchema, ""}, more...), "\n")))
	return w
}

// stat is a file that a commit wrote.
type stat struct {
	partition, file string
	log, base       string // of a log file: its name and that of its base file
	size            int64
}

// commit writes the files of a completed instant.
func (w *writer) commit(action, instant string, stats ...stat) {
	by := map[string][]any{}
	for _, s := range stats {
		name, p := s.file, path.Join(s.partition, s.file)
		m := map[string]any{"path": p, "partitionPath": s.partition, "prevCommit": "null", "fileSizeInBytes": s.size, "numWrites": 1, "totalWriteBytes": s.size}
		if s.log != "" {
			l, _ := logfile.ParseName(s.log)
			m["fileId"], m["logFiles"], m["baseFile"] = l.FileID, []string{s.log}, s.base
		} else {
			m["fileId"], _, _ = strings.Cut(name, "_")
		}
		by[s.partition] = append(by[s.partition], m)
	}
	text, err := json.Marshal(map[string]any{"partitionToWriteStats": by, "compacted": false, "operationType": "UPSERT", "extraMetadata": map[string]string{"schema": tableSchema}})
	if err != nil && w.err == nil {
		w.err = err
	}
	w.put(".hoodie/"+instant+"."+action+".requested", nil)
	inflight := "." + action + ".inflight"
	if action == "commit" {
		inflight = ".inflight"
	}
	w.put(".hoodie/"+instant+inflight, nil)
	w.put(".hoodie/"+instant+"."+action, text)
}

func (w *writer) partition(p, instant string) {
	w.put(path.Join(p, ".hoodie_partition_metadata"), []byte("commitTime="+instant+"\npartitionDepth=1\n"))
}

// base writes a base file of rows and returns what its commit says of it.
func (w *writer) base(partition, fileID, instant string, rows ...row) stat {
	s := stat{partition: partition, file: fileID + "_0-1-0_" + instant + ".parquet"}
	for i := range rows {
		r := &rows[i]
		r.Commit, r.Seq, r.Key, r.Part, r.File, r.P = instant, fmt.Sprintf("%s_0_%d", instant, i), r.ID, partition, s.file, partition
	}
	var out bytes.Buffer
	p := parquet.NewGenericWriter[row](&out)
	if _, err := p.Write(rows); err != nil && w.err == nil {
		w.err = err
	}
	if err := p.Close(); err != nil && w.err == nil {
		w.err = err
	}
	s.size = int64(out.Len())
	w.put(path.Join(partition, s.file), out.Bytes())
	return s
}

// instants writes a merge-on-read table with n instants: a base file, then delta commits that each
// append a block to the same log file.
func instants(dir string, n int) error {
	w := newTable(dir, "MERGE_ON_READ", "hoodie.table.keygenerator.class=org.apache.hudi.keygen.NonpartitionedKeyGenerator")
	const file = "f1-0"
	first := instant(0)
	w.partition("", first)
	base := w.base("", file, first, row{ID: "key-0", TS: 1, Text: "base"})
	w.commit("deltacommit", first, base)
	log := fmt.Sprintf(".%s_%s.log.1_0-1-0", file, first)
	var f logfiletest.File
	for i := 1; i < n; i++ {
		before := len(f.Bytes())
		at := instant(i)
		key := fmt.Sprintf("key-%d", i)
		f.Data(at, blockSchema, [][]byte{logfiletest.Record(nil, at, nil, key, "", nil, key, int64(i), "text", nil)})
		w.commit("deltacommit", at, stat{file: log, log: log, base: base.file, size: int64(len(f.Bytes()) - before)})
	}
	w.put(log, f.Bytes())
	return w.err
}

// perPartition and perCommit say how files are divided.
const (
	perPartition = 100
	perCommit    = 1000
)

// files writes a copy-on-write table with n base files, so many in a partition, with a metadata table that
// lists them or without.
func files(dir string, n, perPartition int, metadata bool) error {
	more := []string{"hoodie.table.partition.fields=p", "hoodie.table.keygenerator.class=org.apache.hudi.keygen.SimpleKeyGenerator"}
	if metadata {
		more = append(more, "hoodie.table.metadata.partitions=files")
	}
	w := newTable(dir, "COPY_ON_WRITE", more...)
	listed := map[string]map[string]int64{}
	var names []string
	for i := 0; i < n; {
		at := instant(i / perCommit)
		var stats []stat
		for ; i < n && len(stats) < perCommit; i++ {
			p := fmt.Sprintf("p%05d", i/perPartition)
			if listed[p] == nil {
				listed[p] = map[string]int64{}
				names = append(names, p)
				w.partition(p, at)
			}
			s := w.base(p, fmt.Sprintf("f%06d-0", i), at, row{ID: fmt.Sprintf("key-%d", i), TS: 1, Text: "text"})
			listed[p][s.file] = s.size
			stats = append(stats, s)
		}
		w.commit("commit", at, stats...)
	}
	if metadata {
		w.metadata(instant((n-1)/perCommit), names, listed)
	}
	return w.err
}

// filesSchema is the part of the metadata table's record schema that its files partition fills.
const filesSchema = `{"type":"record","name":"HoodieMetadataRecord","namespace":"org.apache.hudi.avro.model","fields":[{"name":"key","type":"string"},{"name":"type","type":"int"},` +
	`{"name":"filesystemMetadata","type":["null",{"type":"map","values":{"type":"record","name":"HoodieMetadataFileInfo","fields":[{"name":"size","type":"long"},{"name":"isDeleted","type":"boolean"}]}}],"default":null}]}`

// metadata writes the metadata table, compacted at an instant.
func (w *writer) metadata(at string, partitions []string, listed map[string]map[string]int64) {
	m := &writer{dir: filepath.Join(w.dir, ".hoodie", "metadata"), made: map[string]bool{}}
	m.put(".hoodie/hoodie.properties", []byte(strings.Join([]string{"hoodie.table.name=growth_metadata", "hoodie.table.type=MERGE_ON_READ", "hoodie.table.version=6", "hoodie.timeline.layout.version=1",
		"hoodie.table.base.file.format=HFILE", "hoodie.table.recordkey.fields=key", "hoodie.populate.meta.fields=false", "hoodie.archivelog.folder=archived",
		"hoodie.compaction.payload.class=org.apache.hudi.metadata.HoodieMetadataPayload", "hoodie.table.keygenerator.class=org.apache.hudi.metadata.HoodieTableMetadataKeyGenerator", ""}, "\n")))
	text := func(b []byte, s string) []byte { return append(logfiletest.Long(b, int64(len(s))), s...) }
	record := func(key string, typ int, entries []string, size func(string) int64) hfiletest.Cell {
		v := append(logfiletest.Long(text(nil, key), int64(typ)), 2)
		v = logfiletest.Long(v, int64(len(entries)))
		for _, e := range entries {
			v = append(logfiletest.Long(text(v, e), size(e)), 0)
		}
		return hfiletest.Cell{Key: []byte(key), Value: append(v, 0)}
	}
	cells := []hfiletest.Cell{record("__all_partitions__", 1, partitions, func(string) int64 { return 0 })}
	for _, p := range partitions {
		var names []string
		for name := range listed[p] {
			names = append(names, name)
		}
		slices.Sort(names)
		cells = append(cells, record(p, 2, names, func(name string) int64 { return listed[p][name] }))
	}
	file := "files-0000-0_0-1-0_" + at + ".hfile"
	data := hfiletest.Write(cells, hfiletest.Options{BlockCells: 8, Info: map[string]string{"schema": filesSchema}})
	m.partition("files", at)
	m.put("files/"+file, data)
	m.commit("deltacommit", at, stat{partition: "files", file: file, size: int64(len(data))})
	if m.err != nil && w.err == nil {
		w.err = m.err
	}
}

// A log table: keys are written several times, of which a part is deleted and one block rolled back.
const (
	textBytes  = 1000
	logFile    = "f1-0"
	logCorrupt = 64 << 10 // bytes of the corrupt stretch
)

// logs writes a merge-on-read table of one slice that has one log file of at least size bytes: data
// blocks of 1, 2, 4 and 8 MiB of records of about 1 KiB (an eighth of the size where that is less),
// after every fourth a delete block, and one rollback and one corrupt stretch in the middle.
func logs(dir string, size int64) error {
	w := newTable(dir, "MERGE_ON_READ", "hoodie.table.keygenerator.class=org.apache.hudi.keygen.NonpartitionedKeyGenerator")
	first := instant(0)
	w.partition("", first)
	base := w.base("", logFile, first, row{ID: "key-000000000", TS: 0, Text: "base"})
	w.commit("deltacommit", first, base)
	if w.err != nil {
		return w.err
	}
	log := fmt.Sprintf(".%s_%s.log.1_0-1-0", logFile, first)
	f, err := os.Create(filepath.Join(dir, log))
	if err != nil {
		return err
	}
	defer f.Close()
	out := &counter{w: bufio.NewWriterSize(f, 1<<20)}
	random := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 1<<20)
	for i := range noise {
		noise[i] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[random.IntN(64)]
	}
	text := make([]byte, textBytes)
	keys, n := 1, 1
	commit := func(before int64) {
		w.commit("deltacommit", instant(n), stat{file: log, log: log, base: base.file, size: out.n - before})
		n++
	}
	var record []byte
	rolled := false
	for k := 0; out.n < size; k++ {
		before := out.n
		want := int(min(int64(1)<<(20+k%4), size/8))
		at := instant(n)
		var records [][]byte
		for used := 0; used < want; {
			i := keys
			if keys > 10 && random.IntN(4) == 0 { // an update
				i = random.IntN(keys)
			} else {
				keys++
			}
			copy(text, noise[random.IntN(len(noise)-textBytes/2):][:textBytes/2])
			copy(text[textBytes/2:], noise[random.IntN(len(noise)-textBytes/2):])
			key := fmt.Sprintf("key-%09d", i)
			record = logfiletest.Record(record[:0], at, nil, key, "", nil, key, int64(n), string(text), nil)
			records = append(records, bytes.Clone(record))
			used += len(record) + 4
		}
		out.write(logfiletest.Block(logfile.AvroDataBlock, []logfiletest.Entry{{Key: logfile.InstantTime, Value: at}, {Key: logfile.Schema, Value: blockSchema}}, logfiletest.DataContent(records...)))
		if !rolled && out.n > size/2 {
			// The block's writer failed: it is rolled back, behind what a crash left half written.
			rolled = true
			whole := logfiletest.Block(logfile.AvroDataBlock, []logfiletest.Entry{{Key: logfile.InstantTime, Value: at}}, noise[:logCorrupt])
			out.write(whole[:len(whole)-20])
			n++
			out.write(new(logfiletest.File).Rollback(instant(n), at).Bytes())
			w.put(".hoodie/"+instant(n)+".rollback.requested", nil)
			n++
			continue
		}
		commit(before)
		if k%4 == 3 {
			before = out.n
			var dels []logfiletest.Del
			for range 100 {
				dels = append(dels, logfiletest.Del{Key: fmt.Sprintf("key-%09d", random.IntN(keys)), Partition: "", Ordering: int64(n)})
			}
			out.write(new(logfiletest.File).Deletes(instant(n), blockSchema, dels).Bytes())
			commit(before)
		}
	}
	if out.err == nil {
		out.err = out.w.Flush()
	}
	if out.err != nil {
		return out.err
	}
	return w.err
}

// counter counts what is written.
type counter struct {
	w interface {
		io.Writer
		Flush() error
	}
	n   int64
	err error
}

func (c *counter) write(p []byte) {
	if c.err == nil {
		_, c.err = c.w.Write(p)
		c.n += int64(len(p))
	}
}
