//go:build !js

// Command hostile writes tables for hostile.test.mjs: whatever a table's writer chooses holds markup, scripts,
// addresses, escapes of terminals, formulas or characters that turn the writing direction.
//
//	go run ./web/e2e/hostile DIR
//
// DIR/expected.json says what values the rows have, byte for byte.
package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/parquet-go/parquet-go"

	"hudiscope/core/logfile"
	"hudiscope/core/logfile/logfiletest"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: hostile DIR")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
		os.Exit(1)
	}
}

// mark is markup for one place; the script would name the place. It has no slash, so that it can be a file's name.
func mark(place string) string {
	return `<img src=x onerror="owned('` + place + `')">`
}

// values are the values of the column v by record key.
var values = []struct{ id, v string }{
	{"image", mark("value")},
	{"script", `</script></textarea></style></title><script>owned('script')</script>`},
	{"attribute", `" autofocus onfocus="owned('attribute')" x='" onmouseover=owned('attribute') '>`},
	{"svg", `<svg onload=owned('svg')><animate onbegin=owned('svg') attributeName=x dur=1s></svg>`},
	{"frame", `<iframe srcdoc="<script>parent.owned('frame')</script>"></iframe><object data="http://evil.invalid/object"></object>`},
	{"head", `<base href="http://evil.invalid/"><meta http-equiv="refresh" content="0;url=http://evil.invalid/refresh"><link rel=stylesheet href="http://evil.invalid/x.css">`},
	{"style", `<style>@import url("http://evil.invalid/style.css"); body { display: none }</style>`},
	{"form", `<form action="http://evil.invalid/form"><button autofocus>Sign in</button></form>`},
	{"link", `javascript:owned('link')`},
	{"data", `data:text/html,<script>opener.owned('data')</script>`},
	{"address", `http://evil.invalid/track.png?secret=1`},
	{"template", "{{constructor.constructor(\"owned('template')\")()}} ${owned('template')} <%= owned('template') %>"},
	{"formula", `=cmd|' /C calc'!A0`},
	{"formula2", "@SUM(1+1)*cmd|' /C calc'!A0"},
	{"formula3", "+1-2\",\"=1+1\"\r\n=HYPERLINK(\"http://evil.invalid/\")"},
	{"terminal", "\x1b[31mred\x1b[0m\x1b]8;;http://evil.invalid/terminal\x07link\x1b]8;;\x07\x1b]0;owned\x07"},
	{"direction", "invoice\u202egpj.exe\u202c \u2066isolated \u200fmark"},
	{"controls", "a\x00b\x7fc\u0085d\u2028e\u2029f\ufefeg\ufeffh"},
	{"combining", "Z" + strings.Repeat("\u0351\u0335", 400)},
	{"entity", `&lt;img src=x onerror=owned('entity')&gt; &#60;script&#62;owned('entity')&#60;&#47;script&#62;`},
	{"json", `{"__proto__": {"owned": true}, "a": "\u003cscript>"}`},
	{"proto", `__proto__`},
	{"large", strings.Repeat(`<b onclick="owned('large')">large</b>`, 1<<20/37)},
}

const (
	metaFields = `{"name":"_hoodie_commit_time","type":["null","string"],"default":null},{"name":"_hoodie_commit_seqno","type":["null","string"],"default":null},` +
		`{"name":"_hoodie_record_key","type":["null","string"],"default":null},{"name":"_hoodie_partition_path","type":["null","string"],"default":null},{"name":"_hoodie_file_name","type":["null","string"],"default":null},`
	first  = "20260101000000001"
	second = "20260101000000002"
	third  = "20260101000000003"
	fourth = "20260101000000004"
)

// schemaOf is the Avro schema of the tables with another column; its documentation is hostile.
func schemaOf(fields, column string) string {
	doc := func(s string) string { b, _ := json.Marshal(s); return string(b) } // texts always marshal
	return `{"type":"record","name":"r","doc":` + doc(mark("schema")) + `,"fields":[` + fields +
		`{"name":"id","type":["null","string"],"default":null,"doc":` + doc(mark("doc")) + `},` +
		`{"name":"ts","type":["null","long"],"default":null},` +
		`{"name":"v","type":["null","string"],"default":null,"doc":"javascript:owned('doc')"},` +
		`{"name":` + doc(column) + `,"type":["null","string"],"default":` + `null` + `}]}`
}

// files is a table in memory.
type files map[string][]byte

func (f files) properties(name string, more ...string) {
	lines := []string{
		"hoodie.table.name=" + strings.NewReplacer(`\`, `\\`, "=", `\=`, ":", `\:`).Replace(name),
		"hoodie.table.version=6", "hoodie.timeline.layout.version=1", "hoodie.table.precombine.field=ts",
		"hoodie.table.recordkey.fields=id", "hoodie.table.partition.fields=p", "hoodie.table.base.file.format=PARQUET", "hoodie.populate.meta.fields=true",
		"hoodie.compaction.payload.class=org.apache.hudi.common.model.DefaultHoodieRecordPayload",
		`hoodie.note.<img\ src\=x\ onerror\=owned('property')>=<script>owned('property')</script>`, "hoodie.link=javascript:owned('property')",
	}
	f[".hoodie/hoodie.properties"] = []byte(strings.Join(append(lines, more...), "\n") + "\n")
}

// base adds a base file of all values. Its own metadata is hostile, too.
func (f files) base(partition, fileID, column string) string {
	optional := func(n parquet.Node) parquet.Node { return parquet.Optional(n) }
	group := parquet.Group{"id": optional(parquet.String()), "ts": optional(parquet.Int(64)), "v": optional(parquet.String()), column: optional(parquet.String())}
	for _, n := range []string{"_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key", "_hoodie_partition_path", "_hoodie_file_name"} {
		group[n] = optional(parquet.String())
	}
	name := fileID + "_0-1-0_" + first + ".parquet"
	var out bytes.Buffer
	w := parquet.NewGenericWriter[map[string]any](&out, parquet.NewSchema("<script>owned('parquet')<script>", group), parquet.CreatedBy(mark("created"), "1", "2"), parquet.KeyValueMetadata(mark("metadata"), mark("metadata")))
	for i, x := range values {
		if _, err := w.Write([]map[string]any{{"_hoodie_commit_time": first, "_hoodie_commit_seqno": fmt.Sprintf("%s_0_%d", first, i), "_hoodie_record_key": x.id, "_hoodie_partition_path": partition,
			"_hoodie_file_name": name, "id": x.id, "ts": int64(1), "v": x.v, column: mark("column value")}}); err != nil {
			panic(err) // memory takes all
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	f[partition+"/.hoodie_partition_metadata"] = []byte("commitTime=" + first + "\npartitionDepth=1\n")
	f[partition+"/"+name] = out.Bytes()
	return name
}

// commit adds the files of a completed delta commit.
func (f files) commit(instant, operation, schema string, stats map[string][]any) {
	f[".hoodie/"+instant+".deltacommit.requested"], f[".hoodie/"+instant+".deltacommit.inflight"] = nil, nil
	b, err := json.Marshal(map[string]any{"partitionToWriteStats": stats, "compacted": false, "operationType": operation,
		"extraMetadata": map[string]string{"schema": schema, mark("extra"): mark("extra value"), "__proto__": "javascript:owned('extra')", "long": strings.Repeat("<i>", 100_000)}})
	if err != nil {
		panic(err)
	}
	f[".hoodie/"+instant+".deltacommit"] = b
}

// table is a table whose partition, file group, columns and metadata are hostile.
func table(name, column string) files {
	f := files{}
	f.properties(name)
	partition := "p=" + mark("partition")
	fileID := mark("file")
	base := f.base(partition, fileID, column)
	schema := schemaOf("", column)
	f.commit(first, "UPSERT", schema, map[string][]any{partition: {map[string]any{"fileId": fileID, "path": partition + "/" + base, "prevCommit": "null", "partitionPath": partition, "numWrites": len(values), "fileSizeInBytes": len(f[partition+"/"+base])}}})

	blockSchema := schemaOf(metaFields, column)
	log := "." + fileID + "_" + first + ".log.1_0-1-0"
	rec := func(instant, key string, ts int, v string) []byte {
		return logfiletest.Record(nil, instant, instant+"_0_1", key, partition, fileID, key, ts, v, mark("column value"))
	}
	l := (&logfiletest.File{}).
		Data(second, blockSchema, [][]byte{rec(second, "log", 2, mark("log")), rec(second, mark("key"), 2, "a hostile key")}).
		Deletes(third, blockSchema, []logfiletest.Del{{Key: "proto", Partition: partition, Ordering: int64(9)}, {Key: mark("deleted"), Partition: mark("deleted"), Ordering: mark("ordering")}}).
		Block(logfile.AvroDataBlock, []logfiletest.Entry{{Key: logfile.InstantTime, Value: mark("block instant")}, {Key: logfile.Schema, Value: blockSchema}}, logfiletest.DataContent(rec(fourth, "never", 3, "never"))).
		Rollback(fourth, mark("target"))
	f[partition+"/"+log] = l.Bytes()
	stat := map[string]any{"fileId": fileID, "path": partition + "/" + log, "prevCommit": first, "partitionPath": partition, "numWrites": 2, "baseFile": base, "logFiles": []string{log}, "fileSizeInBytes": len(l.Bytes())}
	f.commit(second, mark("operation"), schema, map[string][]any{partition: {stat}})
	f.commit(third, "DELETE", schema, map[string][]any{partition: {stat}})
	f[".hoodie/"+fourth+".deltacommit.requested"], f[".hoodie/"+fourth+".deltacommit.inflight"] = nil, nil
	f[".hoodie/"+mark("instant")+".commit"] = []byte(mark("instant"))
	f[".hoodie/"+mark("folder")+"/x"] = []byte("x")
	f["q=\u202egpj.exe/.hoodie_partition_metadata"] = []byte("commitTime=" + first + "\npartitionDepth=1\n")
	f[partition+"/"+mark("odd")] = []byte("x")
	return f
}

// damaged is a table whose broken files hold markup, so that the errors about them do.
func damaged() files {
	f := table("damaged", "more")
	for p := range f {
		switch {
		case strings.HasSuffix(p, ".parquet"):
			f[p] = []byte("PAR1" + strings.Repeat(mark("footer"), 10) + "\x10\x00\x00\x00PAR1")
		case strings.HasSuffix(p, second+".deltacommit"):
			f[p] = []byte(`{"partitionToWriteStats": ` + mark("json") + `}`)
		case strings.HasSuffix(p, third+".deltacommit"):
			f[p] = []byte(`{"partitionToWriteStats": {"` + strings.ReplaceAll(mark("json"), `"`, `'`) + `": 7}}`)
		case strings.Contains(p, ".log."):
			f[p] = append(bytes.Clone(f[p]), append([]byte("#HUDI#\x00\x00\x00\x00\x00\x00\x7f\xff"), mark("junk")...)...)
		}
	}
	return f
}

// refused is a table that can't be opened; the error says what its properties say.
func refused() files {
	f := files{}
	f.properties(mark("name"), "hoodie.table.type="+mark("type"), "hoodie.table.version="+mark("version"))
	return f
}

func run(dir string) error {
	main := table(mark("name"), "more")
	main[".hoodie/hoodie.properties"] = append(main[".hoodie/hoodie.properties"], "hoodie.table.type=MERGE_ON_READ\n"...)
	columns := table("columns", mark("column"))
	columns[".hoodie/hoodie.properties"] = append(columns[".hoodie/hoodie.properties"], "hoodie.table.type=MERGE_ON_READ\n"...)
	broken := damaged()
	broken[".hoodie/hoodie.properties"] = append(broken[".hoodie/hoodie.properties"], "hoodie.table.type=MERGE_ON_READ\n"...)
	for name, f := range map[string]files{mark("folder"): main, "columns": columns, "damaged": broken, "refused": refused()} {
		for p, b := range f {
			to := filepath.Join(dir, name, filepath.FromSlash(p))
			if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(to, b, 0o644); err != nil {
				return err
			}
		}
	}
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for p, b := range main {
		w, err := z.Create(mark("zipped") + "/" + p)
		if err != nil {
			return err
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "hostile.zip"), out.Bytes(), 0o644); err != nil {
		return err
	}
	want := map[string]string{"log": mark("log"), mark("key"): "a hostile key"}
	for _, x := range values {
		if x.id != "proto" { // deleted by the log
			want[x.id] = x.v
		}
	}
	text, err := json.Marshal(map[string]any{"folder": mark("folder"), "rows": want})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "expected.json"), text, 0o644)
}
