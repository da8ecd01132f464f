// Package bigtable writes a copy-on-write table of many rows, for tests: table version 6, one commit, no partitions,
// four base files. Every value follows from the number of its row, so that a test knows what it must see.
package bigtable

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
)

// Name is the name of the table, and of its folder in the .zip.
const Name = "bigtable"

// Instant is its only commit.
const Instant = "20260101000000000"

const files = 4

// Row is a row of the table.
type Row struct {
	CommitTime    string  `parquet:"_hoodie_commit_time,optional,dict"`
	Seqno         string  `parquet:"_hoodie_commit_seqno,optional"`
	RecordKey     string  `parquet:"_hoodie_record_key,optional"`
	PartitionPath *string `parquet:"_hoodie_partition_path,optional"`
	FileName      string  `parquet:"_hoodie_file_name,optional,dict"`
	ID            int64   `parquet:"id"`
	City          string  `parquet:"city,optional,dict"`
	Fare          float64 `parquet:"fare"`
	Note          *string `parquet:"note,optional"`
	Mix           int64   `parquet:"mix"`
}

var cities = []string{"chennai", "nairobi", "oslo", "san_francisco", "sao_paulo"}

// RowOf is row n of a table of total rows: Mix has every number below total once, in no order; Note is null in two
// of three rows.
func RowOf(n, total int64) Row {
	r := Row{CommitTime: Instant, Seqno: fmt.Sprintf("%s_0_%d", Instant, n), RecordKey: fmt.Sprintf("key-%08d", n), PartitionPath: new(string),
		ID: n, City: cities[n%int64(len(cities))], Fare: float64(n*7919%100_000) / 100, Mix: n * 7919 % total}
	if n%3 == 0 {
		note := fmt.Sprintf("note %d", n%1000)
		r.Note = &note
	}
	return r
}

const avro = `{"type":"record","name":"bigtable","fields":[` +
	`{"name":"id","type":"long"},{"name":"city","type":["null","string"],"default":null},{"name":"fare","type":"double"},` +
	`{"name":"note","type":["null","string"],"default":null},{"name":"mix","type":"long"}]}`

// counted counts what is written.
type counted struct {
	w io.Writer
	n int64
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// WriteZip writes the table of rows rows, a number that 7919 does not divide, as a .zip of stored files.
func WriteZip(w io.Writer, rows int64) error {
	z := zip.NewWriter(w)
	create := func(name string) (io.Writer, error) {
		return z.CreateHeader(&zip.FileHeader{Name: Name + "/" + name, Method: zip.Store})
	}
	put := func(name, text string) error {
		f, err := create(name)
		if err == nil {
			_, err = io.WriteString(f, text)
		}
		return err
	}
	var stats []map[string]any
	for i := range int64(files) {
		id := fmt.Sprintf("00000000-0000-4000-8000-%012d-0", i)
		name := fmt.Sprintf("%s_%d-1-%d_%s.parquet", id, i, i, Instant)
		f, err := create(name)
		if err != nil {
			return err
		}
		c := &counted{w: f}
		p := parquet.NewGenericWriter[Row](c, parquet.Compression(&parquet.Snappy), parquet.MaxRowsPerRowGroup(100_000), parquet.KeyValueMetadata("parquet.avro.schema", avro))
		from, to := rows*i/files, rows*(i+1)/files
		buf := make([]Row, 0, 4096)
		for n := from; n < to; n++ {
			r := RowOf(n, rows)
			r.FileName = name
			if buf = append(buf, r); len(buf) == cap(buf) || n == to-1 {
				if _, err := p.Write(buf); err != nil {
					return err
				}
				buf = buf[:0]
			}
		}
		if err := p.Close(); err != nil {
			return err
		}
		stats = append(stats, map[string]any{"fileId": id, "path": name, "prevCommit": "null", "partitionPath": "", "numWrites": to - from, "numInserts": to - from,
			"numDeletes": 0, "numUpdateWrites": 0, "totalWriteBytes": c.n, "totalWriteErrors": 0, "fileSizeInBytes": c.n})
	}
	commit, err := json.Marshal(map[string]any{"partitionToWriteStats": map[string]any{"": stats}, "compacted": false, "extraMetadata": map[string]string{"schema": avro}, "operationType": "BULK_INSERT"})
	if err != nil {
		return err
	}
	for _, f := range [][2]string{
		{".hoodie_partition_metadata", "commitTime=" + Instant + "\npartitionDepth=0\n"},
		{".hoodie/hoodie.properties", "hoodie.table.name=" + Name + "\nhoodie.table.type=COPY_ON_WRITE\nhoodie.table.version=6\nhoodie.timeline.layout.version=1\n" +
			"hoodie.table.recordkey.fields=id\nhoodie.table.precombine.field=mix\nhoodie.table.base.file.format=PARQUET\nhoodie.populate.meta.fields=true\n" +
			"hoodie.table.keygenerator.class=org.apache.hudi.keygen.NonpartitionedKeyGenerator\nhoodie.table.timeline.timezone=UTC\nhoodie.archivelog.folder=archived\n"},
		{".hoodie/" + Instant + ".commit.requested", ""},
		{".hoodie/" + Instant + ".inflight", "{}"},
		{".hoodie/" + Instant + ".commit", string(commit)},
	} {
		if err := put(f[0], f[1]); err != nil {
			return err
		}
	}
	return z.Close()
}
