package table

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"hudiscope/core/bootstrap"
	"hudiscope/core/corrupt"
	"hudiscope/core/groupreader"
	"hudiscope/core/hfile"
	"hudiscope/core/storage"
)

// Parts is what a program links for some tables only, and what it lets a table reach.
type Parts struct {
	// ORC opens an ORC base file; closing the result closes the object. nil: not linked.
	ORC func(ctx context.Context, obj storage.Object, path string) (groupreader.BaseFile, error)
	// Resolve opens a place that a read option names. nil: such options are refused.
	Resolve func(ctx context.Context, location string) (storage.Source, error)
}

// BootstrapBaseOption is the read option that says where the source of a bootstrapped table is now.
const BootstrapBaseOption = "hudiscope.bootstrap.base"

// SourceMissing says that the source file of a bootstrapped file group can't be reached.
type SourceMissing struct {
	// File is the skeleton base file, URI the absolute place of the source file, as the index has it.
	File, URI string
	// Base is the source's base path, as hoodie.properties has it.
	Base string
	// Tried says where it was looked for.
	Tried string
	Err   error
}

// Error renders the finding.
func (s *SourceMissing) Error() string {
	text := fmt.Sprintf("%s: its rows are in the bootstrap source, in %s, which can't be reached (%s)", s.File, s.URI, s.Tried)
	if s.Err != nil {
		text += ": " + s.Err.Error()
	}
	return text
}

// Unwrap returns the cause.
func (s *SourceMissing) Unwrap() error { return s.Err }

// Try says what to do.
func (s *SourceMissing) Try() string {
	return fmt.Sprintf("Lay the folder %q (it was %s) beside the table's folder, or say where it is with the option %s=LOCATION.", bootstrap.Name(s.Base), s.Base, BootstrapBaseOption)
}

// bootstrapped is what is kept of a bootstrapped table.
type bootstrapped struct {
	mu    sync.Mutex
	done  bool
	index *bootstrap.Index
	// err says why there is no index where one is needed.
	err     error
	sources map[string]storage.Source // by the value of BootstrapBaseOption
}

// bootstrapIndex loads the bootstrap index, once; nil when the table was not bootstrapped.
func (t *Table) bootstrapIndex(ctx context.Context) (*bootstrap.Index, error) {
	if t.Config.BootstrapBasePath() == "" {
		return nil, nil
	}
	b := &t.boot
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.done {
		return b.index, b.err
	}
	if !t.Config.BootstrapIndex() {
		b.done, b.err = true, fmt.Errorf("%w that may be used: hoodie.bootstrap.index.enable is false", bootstrap.ErrNoIndex)
		return nil, b.err
	}
	x, err := bootstrap.Load(ctx, t.Src, t.Config.MetaPath())
	// What the storage says may be different the next time; what the bytes say is not.
	b.done = err == nil || t.noBootstrapIndex(err)
	b.index, b.err = x, err
	return x, err
}

// noBootstrapIndex reports whether an error says that the index is absent or can't be used: file
// slices can be told without it, rows of skeleton files can't.
func (t *Table) noBootstrapIndex(err error) bool {
	var un *hfile.Unsupported
	return errors.Is(err, bootstrap.ErrNoIndex) || corrupt.Is(err) || errors.As(err, &un)
}

// checkBase refuses a base file whose rows can't be read, before anything of it is.
func (t *Table) checkBase(s *groupreader.Slice) error {
	for _, file := range []string{s.Base, s.Source} {
		ext := strings.ToLower(file[strings.LastIndexByte(file, '.')+1:])
		switch {
		case file == "" || ext == "parquet":
		case ext == "orc":
			if t.Parts.ORC == nil {
				return &groupreader.NeedsPart{Part: "orc", File: file}
			}
		case file == s.Source && !strings.Contains(file[strings.LastIndexByte(file, '/')+1:], "."):
			// A source file may have any name; what it is shows when it is opened.
		case ext == "lance":
			return &groupreader.Unsupported{File: file, What: "Lance base files can't be read: Hudi reads them through a native library, and there is none in pure Go", Try: "The timeline, the file slices, the log blocks and read paths that use no base file of this kind still work."}
		default:
			return &groupreader.Unsupported{File: file, What: "base files of format " + strings.ToUpper(ext) + " can't be read; PARQUET and ORC can"}
		}
	}
	if s.Source == "" && s.BaseInstant == bootstrap.Instant && t.Config.BootstrapBasePath() != "" {
		t.boot.mu.Lock()
		err := t.boot.err
		t.boot.mu.Unlock()
		why := "the bootstrap index does not tell the source file of this file group"
		if err != nil {
			why = err.Error()
		}
		return &groupreader.Unsupported{File: s.Base, What: "this is a skeleton file of a metadata-only bootstrap, whose rows are in a source file, and " + why,
			Try: "Copy the table with its folder .hoodie/.aux/.bootstrap."}
	}
	return nil
}

// openBase opens a slice's base file, together with its source file where it is a skeleton.
func (t *Table) openBase(ctx context.Context, s *groupreader.Slice, base string) (groupreader.BaseFile, error) {
	obj, err := t.Src.Open(ctx, s.Base)
	if err != nil {
		return nil, err
	}
	f, err := t.openRows(ctx, obj, s.Base)
	if err != nil || s.Source == "" {
		return f, err
	}
	src, path, err := t.openSource(ctx, s, base)
	if err != nil {
		f.Close()
		return nil, err
	}
	g, err := t.openRows(ctx, src, path)
	if err != nil {
		f.Close()
		return nil, err
	}
	return zipped{bootstrap.Zip(f, g, s.Base, path), f, g}, nil
}

// ColumnBytes tells how large the columns of a slice's base file are as they are stored, nil where that is not known.
func (t *Table) ColumnBytes(ctx context.Context, s *groupreader.Slice) (map[string]int64, error) {
	if s.Base == "" || s.Source != "" || t.checkBase(s) != nil {
		return nil, nil
	}
	f, err := t.openBase(ctx, s, "")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if c, ok := f.(interface{ ColumnBytes() map[string]int64 }); ok {
		return c.ColumnBytes(), nil
	}
	return nil, nil
}

// openRows opens an object for its rows, by its name; the object is closed when that fails.
func (t *Table) openRows(ctx context.Context, obj storage.Object, path string) (f groupreader.BaseFile, err error) {
	if strings.HasSuffix(strings.ToLower(path), ".orc") {
		if t.Parts.ORC == nil {
			obj.Close()
			return nil, &groupreader.NeedsPart{Part: "orc", File: path}
		}
		f, err = t.Parts.ORC(ctx, obj, path)
	} else {
		f, err = groupreader.OpenParquet(ctx, obj, path)
	}
	if err != nil {
		obj.Close()
	}
	return f, err
}

// zipped are two files read side by side.
type zipped struct {
	*bootstrap.Zipped
	skeleton, source groupreader.BaseFile
}

func (z zipped) Close() error { return errors.Join(z.skeleton.Close(), z.source.Close()) }

// openSource opens the source file of a skeleton. base is the value of BootstrapBaseOption.
func (t *Table) openSource(ctx context.Context, s *groupreader.Slice, base string) (storage.Object, string, error) {
	root := t.Config.BootstrapBasePath()
	missing := &SourceMissing{File: s.Base, URI: s.Source, Base: root}
	rel, ok := bootstrap.Relative(s.Source, root)
	if !ok {
		t.boot.mu.Lock()
		if x := t.boot.index; x != nil && x.BasePath != "" {
			rel, ok = bootstrap.Relative(s.Source, x.BasePath)
		}
		t.boot.mu.Unlock()
	}
	if !ok {
		missing.Tried = "it does not lie below the bootstrap base path " + root
		return nil, "", missing
	}
	src, err := t.bootstrapSource(ctx, base)
	if err != nil {
		if ctx.Err() != nil {
			return nil, "", ctx.Err()
		}
		missing.Err, missing.Tried = err, "looked for beside the table"
		if base != "" {
			missing.Tried = "looked for at " + base
		} else if storage.IsNotExist(err) {
			missing.Err = nil
		}
		return nil, "", missing
	}
	// A place that was named may be the source's folder itself or hold it.
	for _, path := range []string{rel, bootstrap.Name(root) + "/" + rel} {
		obj, err := src.Open(ctx, path)
		if err == nil {
			if _, err = obj.Size(ctx); err == nil {
				return obj, path, nil
			}
			obj.Close()
		}
		if ctx.Err() != nil {
			return nil, "", ctx.Err()
		}
		missing.Tried = "looked for as " + path + " in " + src.Location()
		missing.Err = nil
		if !storage.IsNotExist(err) {
			missing.Err = err
			break
		}
		if base == "" {
			break
		}
	}
	return nil, "", missing
}

// bootstrapSource opens the bootstrap source, once.
func (t *Table) bootstrapSource(ctx context.Context, base string) (storage.Source, error) {
	b := &t.boot
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := b.sources[base]; s != nil {
		return s, nil
	}
	var src storage.Source
	var err error
	if base != "" {
		if t.Parts.Resolve == nil {
			return nil, &OptionError{BootstrapBaseOption, base, "no other place than the table itself can be opened here"}
		}
		src, err = t.Parts.Resolve(ctx, base)
	} else {
		name := bootstrap.Name(t.Config.BootstrapBasePath())
		n, ok := t.Src.(storage.Neighbour)
		if !ok {
			return nil, storage.NoSibling(name, t.Src.Location())
		}
		src, err = n.Sibling(ctx, name)
	}
	if err != nil {
		return nil, err
	}
	if b.sources == nil {
		b.sources = map[string]storage.Source{}
	}
	b.sources[base] = src
	return src, nil
}
