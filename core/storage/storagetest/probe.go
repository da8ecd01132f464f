package storagetest

import (
	"context"
	"slices"
	"sync"

	"hudiscope/core/storage"
)

// Read is one ReadAt that a Probe saw.
type Read struct {
	Path     string
	Off, Len int64 // as asked for
}

// Probe wraps a source: it counts calls and, by its hooks, delays or fails them. The
// hooks may be nil and must be set before the first use.
type Probe struct {
	Src storage.Source
	// OnList, OnOpen and OnRead run before the call; an error is returned in its place.
	OnList func(ctx context.Context, dir string) error
	OnOpen func(ctx context.Context, path string) error
	OnRead func(ctx context.Context, path string, p []byte, off int64) error
	// AfterRead may change the result of a ReadAt.
	AfterRead func(path string, p []byte, off int64, n int, err error) (int, error)
	// HideSize makes Size cost a one-byte read, as on a transport that learns the size
	// from an answer.
	HideSize bool

	mu           sync.Mutex
	reads        []Read
	lists, opens []string
	open         int
}

// Location is that of the source beneath.
func (p *Probe) Location() string { return p.Src.Location() }

// Reads returns the reads seen, in order of arrival.
func (p *Probe) Reads() []Read {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.reads)
}

// Lists returns the directories listed.
func (p *Probe) Lists() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.lists)
}

// Opens returns the paths opened.
func (p *Probe) Opens() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.opens)
}

// StillOpen returns how many objects have not been closed.
func (p *Probe) StillOpen() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open
}

// Reset forgets the calls seen.
func (p *Probe) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reads, p.lists, p.opens = nil, nil, nil
}

// List lists.
func (p *Probe) List(ctx context.Context, dir string) (storage.Listing, error) {
	p.mu.Lock()
	p.lists = append(p.lists, dir)
	p.mu.Unlock()
	if p.OnList != nil {
		if err := p.OnList(ctx, dir); err != nil {
			return storage.Listing{}, err
		}
	}
	return p.Src.List(ctx, dir)
}

// Open opens.
func (p *Probe) Open(ctx context.Context, path string) (storage.Object, error) {
	p.mu.Lock()
	p.opens = append(p.opens, path)
	p.mu.Unlock()
	if p.OnOpen != nil {
		if err := p.OnOpen(ctx, path); err != nil {
			return nil, err
		}
	}
	o, err := p.Src.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.open++
	p.mu.Unlock()
	return &probed{Object: o, p: p, path: path}, nil
}

type probed struct {
	storage.Object
	p      *Probe
	path   string
	closed bool
	known  bool
}

func (o *probed) Size(ctx context.Context) (int64, error) {
	if o.p.HideSize && !o.known {
		if _, err := o.ReadAt(ctx, make([]byte, 1), 0); err != nil && ctx.Err() != nil {
			return 0, err
		}
	}
	return o.Object.Size(ctx)
}

func (o *probed) ReadAt(ctx context.Context, b []byte, off int64) (int, error) {
	o.p.mu.Lock()
	o.p.reads = append(o.p.reads, Read{o.path, off, int64(len(b))})
	o.known = true
	o.p.mu.Unlock()
	if o.p.OnRead != nil {
		if err := o.p.OnRead(ctx, o.path, b, off); err != nil {
			return 0, err
		}
	}
	n, err := o.Object.ReadAt(ctx, b, off)
	if o.p.AfterRead != nil {
		return o.p.AfterRead(o.path, b, off, n, err)
	}
	return n, err
}

func (o *probed) Close() error {
	o.p.mu.Lock()
	if !o.closed {
		o.closed = true
		o.p.open--
	}
	o.p.mu.Unlock()
	return o.Object.Close()
}
