// Package bootstrap reads what a metadata-only bootstrap leaves: skeleton base files that hold the
// meta fields only, the source files that hold the rest of their rows, and the index between them.
//
// Source of the rules: spec file-view.md section 8, hfile.md section 9.2, record-merging.md section 12.
package bootstrap

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"hudiscope/core/commitmeta"
	"hudiscope/core/corrupt"
	"hudiscope/core/hfile"
	"hudiscope/core/storage"
)

// Instant is the instant of a metadata-only bootstrap: base files of it are skeletons.
const Instant = "00000000000001"

// indexFile is the name that both index files have.
const indexFile = "00000000-0000-0000-0000-000000000000-0_1-0-1_" + Instant + ".hfile"

// Folders of the index below .hoodie/.aux.
const (
	partitionsFolder = "/.aux/.bootstrap/.partitions/"
	fileIDsFolder    = "/.aux/.bootstrap/.fileids/"
)

// Source is the source file of a file group.
type Source struct {
	// URI is the absolute place of the file when the table was bootstrapped, as the index has it.
	URI string
	// Partition is the partition path in the source, which may differ from the table's.
	Partition string
	// Length in bytes at that time, -1 when the index does not tell it.
	Length int64
}

// Index says which file group was bootstrapped from which source file.
type Index struct {
	// BasePath is the source's base path as the index has it, "" when it does not.
	BasePath string
	groups   map[string]map[string]Source
}

// Source returns the source file of a file group.
func (x *Index) Source(partition, fileID string) (Source, bool) {
	if x == nil {
		return Source{}, false
	}
	s, ok := x.groups[partition][fileID]
	return s, ok
}

// Len counts the file groups.
func (x *Index) Len() int {
	n := 0
	for _, g := range x.groups {
		n += len(g)
	}
	return n
}

// The records of the index (Hudi's own field names).
type indexInfo struct {
	BasePath string `json:"bootstrapBasePath"`
}

type partitionMetadata struct {
	BootstrapPartition string                `json:"bootstrapPartitionPath"`
	Partition          *string               `json:"partitionPath"`
	Files              map[string]fileStatus `json:"fileIdToBootstrapFile"`
}

type fileStatus struct {
	Path *struct {
		URI string `json:"uri"`
	} `json:"path"`
	Length *int64 `json:"length"`
}

// ErrNoIndex says that a table has no bootstrap index: one of its two files is absent.
var ErrNoIndex = errors.New("the table has no bootstrap index")

// Load reads the index of a table; meta is its folder of metadata (".hoodie"). As in Hudi, the index
// is there only when both of its files are; else the error is ErrNoIndex. The file by partitions
// tells all that is needed, and is the one that is read.
func Load(ctx context.Context, src storage.Source, meta string) (*Index, error) {
	for _, folder := range []string{fileIDsFolder, partitionsFolder} {
		l, err := src.List(ctx, strings.TrimSuffix(meta+folder, "/"))
		if storage.IsNotExist(err) {
			return nil, fmt.Errorf("%w: %s is absent", ErrNoIndex, meta+folder+indexFile)
		}
		if err != nil {
			return nil, err
		}
		found := !l.Complete // such a listing proves nothing
		for _, e := range l.Entries {
			found = found || !e.Dir && e.Name == indexFile
		}
		if !found {
			return nil, fmt.Errorf("%w: %s is absent", ErrNoIndex, meta+folder+indexFile)
		}
	}
	path := meta + partitionsFolder + indexFile
	obj, err := src.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer obj.Close()
	f, err := hfile.Open(ctx, obj, path, 0)
	if storage.IsNotExist(err) {
		return nil, fmt.Errorf("%w: %s is absent", ErrNoIndex, path)
	}
	if err != nil {
		return nil, err
	}
	x := &Index{groups: map[string]map[string]Source{}}
	if v, ok := f.Info(hfile.InfoIndex); ok {
		var info indexInfo
		if err := decode(v, &info); err != nil {
			return nil, &corrupt.Error{File: path, Offset: corrupt.Unknown, Part: "file info " + hfile.InfoIndex, Err: err}
		}
		x.BasePath = info.BasePath
	}
	for c, err := range f.Scan(ctx) {
		if err != nil {
			return nil, err
		}
		part, ok := strings.CutPrefix(string(c.Key), "part=")
		if !ok {
			return nil, &corrupt.Error{File: path, Offset: c.Block, Part: "key of the bootstrap index", Want: "part=PARTITION", Got: fmt.Sprintf("%q", c.Key)}
		}
		var m partitionMetadata
		if err := decode(c.Value, &m); err != nil {
			return nil, &corrupt.Error{File: path, Offset: c.Block, Part: fmt.Sprintf("bootstrap index, value of %q", c.Key), Err: err}
		}
		if m.Partition != nil {
			part = *m.Partition
		}
		g := x.groups[part]
		if g == nil {
			g = make(map[string]Source, len(m.Files))
			x.groups[part] = g
		}
		for id, st := range m.Files {
			s := Source{Partition: m.BootstrapPartition, Length: -1}
			if st.Path != nil {
				s.URI = st.Path.URI
			}
			if st.Length != nil {
				s.Length = *st.Length
			}
			g[id] = s
		}
	}
	return x, nil
}

// decode decodes an Avro container of one record.
func decode(data []byte, v any) error {
	d, err := commitmeta.Decode(data)
	if err != nil {
		return err
	}
	if d.Encoding == commitmeta.Empty {
		return commitmeta.ErrEmpty
	}
	return json.Unmarshal(d.JSON, v)
}

// Path takes the scheme and the host off a Hadoop path: what is left is absolute and without a "/"
// at its end. "file:/a/b", "file:///a/b", "hdfs://host:8020/a/b" and "/a/b" give "/a/b".
func Path(uri string) string {
	if i := strings.IndexByte(uri, ':'); i > 0 && strings.IndexByte(uri[:i], '/') < 0 {
		uri = uri[i+1:]
		if rest, ok := strings.CutPrefix(uri, "//"); ok {
			_, p, _ := strings.Cut(rest, "/")
			uri = "/" + p
		}
	}
	return "/" + strings.Trim(uri, "/")
}

// Relative returns the path of a source file below the source's base path.
func Relative(uri, base string) (string, bool) {
	b := Path(base)
	if b == "/" {
		return Path(uri)[1:], true
	}
	rel, ok := strings.CutPrefix(Path(uri), b+"/")
	return rel, ok && rel != ""
}

// Name is the last element of a base path: the name of its folder.
func Name(base string) string {
	p := Path(base)
	return p[strings.LastIndexByte(p, '/')+1:]
}
