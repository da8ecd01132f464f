package filegroup

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"sync"

	"hudiscope/core/config"
	"hudiscope/core/storage"
)

// PartitionMarker begins the name of the file that makes a directory a partition.
const PartitionMarker = ".hoodie_partition_metadata"

// DefaultConcurrency is how many directories are listed at once.
const DefaultConcurrency = 8

// Limits of partition discovery: a directory tree deeper or larger than this is not walked
// to its end, and the Listing says so.
const (
	maxDepth = 64
	maxDirs  = 1 << 20
)

// Listing holds the files of a table's partitions, from whatever source.
type Listing struct {
	// Files are the entries of each partition's directory, by partition path.
	Files map[string][]storage.Entry
	// Complete is false when partitions or files may be missing; Notes say why.
	Complete bool
	Notes    []string
	// Unmarked are directories without a marker that hold files with the names of data files. NoMarker
	// has those of Files that were among them: partitions by a commit, which is the value.
	Unmarked map[string][]storage.Entry
	NoMarker map[string]string
	// DotsHidden is true when it is not complete for one reason alone: the storage lists no names that
	// begin with a dot.
	DotsHidden bool
	// From says where names that the storage does not list were taken from; "" when it lists all.
	From string
	// ByMetadata is set when the metadata table stands for the whole listing: the storage was not listed.
	ByMetadata bool
}

// Partitions are the partition paths, sorted; "" is the table itself.
func (l *Listing) Partitions() []string {
	out := make([]string, 0, len(l.Files))
	for p := range l.Files {
		out = append(out, p)
	}
	sort.Strings(out)
	return out
}

// ListOptions bound a listing.
type ListOptions struct {
	// Concurrency is the number of directories listed at once; 0 means DefaultConcurrency.
	Concurrency int
	// Prefix limits discovery to directories below this path; "" is the whole table.
	Prefix string
	// Limit ends Discover with ErrManyDirectories when there are more directories to list; 0 means no limit.
	Limit int
	// Progress, if set, is called after each directory with the number listed so far. Calls
	// are not concurrent.
	Progress func(dirs int)
}

// ErrManyDirectories says that a table has more directories than ListOptions.Limit.
var ErrManyDirectories = errors.New("the table has more directories than were to be listed")

// Discover finds the partitions by walking the directories below the base path: a
// directory with a partition marker is a partition and is not descended, except the base
// path itself (spec file-view.md section 2). The entries it saw on the way are the
// partitions' files.
func Discover(ctx context.Context, src storage.Source, cfg *config.Config, opt ListOptions) (*Listing, error) {
	w := newWalk(src, opt)
	w.out.Unmarked = map[string][]storage.Entry{}
	exts := cfg.BaseExtensions()
	err := w.run(ctx, []string{join(cfg.Root, opt.Prefix)}, func(dir string, l storage.Listing) (descend []string) {
		if l.DotsHidden {
			return nil // nor are the markers of partitions: the walk would find none
		}
		marked := false
		var below []string
		for _, e := range l.Entries {
			switch {
			case e.Dir && e.Name != config.MetaDir:
				below = append(below, join(dir, e.Name))
			case !e.Dir && strings.HasPrefix(e.Name, PartitionMarker):
				marked = true
			}
		}
		if marked {
			w.keep(relative(cfg.Root, dir), l)
			if dir != cfg.Root {
				return nil
			}
		} else if dataFiles(l.Entries, exts) {
			w.out.Unmarked[relative(cfg.Root, dir)] = filesOf(l)
		}
		return below
	})
	return w.out, err
}

// List lists the given partitions' directories. A partition whose directory is absent has
// no files.
func List(ctx context.Context, src storage.Source, cfg *config.Config, partitions []string, opt ListOptions) (*Listing, error) {
	w := newWalk(src, opt)
	dirs := make([]string, len(partitions))
	for i, p := range partitions {
		dirs[i] = join(cfg.Root, p)
		w.out.Files[p] = nil
	}
	err := w.run(ctx, dirs, func(dir string, l storage.Listing) []string {
		w.keep(relative(cfg.Root, dir), l)
		return nil
	})
	return w.out, err
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "/" + b
}

func relative(root, dir string) string {
	return strings.TrimPrefix(strings.TrimPrefix(dir, root), "/")
}

// walk lists directories with bounded concurrency. The visit function and out are only
// touched under mu.
type walk struct {
	src storage.Source
	opt ListOptions
	out *Listing
	mu  sync.Mutex
}

func newWalk(src storage.Source, opt ListOptions) *walk {
	if opt.Concurrency <= 0 {
		opt.Concurrency = DefaultConcurrency
	}
	return &walk{src: src, opt: opt, out: &Listing{Files: map[string][]storage.Entry{}, Complete: true}}
}

func (w *walk) keep(partition string, l storage.Listing) { w.out.Files[partition] = filesOf(l) }

func filesOf(l storage.Listing) []storage.Entry {
	var files []storage.Entry
	for _, e := range l.Entries {
		if !e.Dir {
			files = append(files, e)
		}
	}
	return files
}

// maxNotes bounds how many incomplete directories are named.
const maxNotes = 10

func (w *walk) incomplete(note string) {
	w.out.Complete, w.out.DotsHidden = false, false
	switch {
	case len(w.out.Notes) < maxNotes:
		w.out.Notes = append(w.out.Notes, note)
	case len(w.out.Notes) == maxNotes:
		w.out.Notes = append(w.out.Notes, "More directories are not complete.")
	}
}

func (w *walk) run(ctx context.Context, dirs []string, visit func(dir string, l storage.Listing) []string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	type item struct {
		dir   string
		depth int
	}
	var queue []item
	for _, d := range dirs {
		queue = append(queue, item{d, 0})
	}
	wake := sync.NewCond(&w.mu)
	busy, done, started := 0, 0, len(queue)
	stop := context.AfterFunc(ctx, func() { w.mu.Lock(); wake.Broadcast(); w.mu.Unlock() })
	defer stop()
	worker := func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		for {
			for len(queue) == 0 && busy > 0 && ctx.Err() == nil {
				wake.Wait()
			}
			if len(queue) == 0 || ctx.Err() != nil {
				wake.Broadcast()
				return
			}
			it := queue[len(queue)-1]
			queue = queue[:len(queue)-1]
			busy++
			w.mu.Unlock()
			l, err := w.src.List(ctx, it.dir)
			w.mu.Lock()
			busy--
			switch {
			case err == nil:
				if l.DotsHidden {
					if w.out.Complete {
						w.incomplete(l.Note)
						w.out.DotsHidden = true
					}
				} else if !l.Complete {
					note := "The listing of " + name(it.dir) + " is not complete"
					if l.Note != "" {
						note += ": " + l.Note
					}
					w.incomplete(note + ".")
				}
				below := visit(it.dir, l)
				if w.opt.Limit > 0 && started+len(below) > w.opt.Limit {
					cancel(ErrManyDirectories)
				}
				for _, d := range below {
					if it.depth+1 > maxDepth || started >= maxDirs {
						w.incomplete(fmt.Sprintf("Directories below %s were not looked at: the tree has more than %d levels or %d directories.", name(it.dir), maxDepth, maxDirs))
						break
					}
					started++
					queue = append(queue, item{d, it.depth + 1})
				}
			case storage.IsNotExist(err):
				// A directory without files does not exist in an object store.
			default:
				cancel(err)
			}
			done++
			if w.opt.Progress != nil {
				w.opt.Progress(done)
			}
			wake.Broadcast()
		}
	}
	var wg sync.WaitGroup
	for range w.opt.Concurrency {
		wg.Go(worker)
	}
	wg.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

func name(dir string) string {
	if dir == "" {
		return "the base path"
	}
	return dir
}
