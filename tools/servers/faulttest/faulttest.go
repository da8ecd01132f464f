// Package faulttest reads tables through every fault of package faultproxy and holds the answers
// against those of the directory: the same, or an error that names the place. It is for tests only.
package faulttest

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hudiscope/core/storage"
	"hudiscope/core/storage/cache"
	"hudiscope/fsadapter"
	"hudiscope/fsadapter/httprange"
	"hudiscope/tools/servers/answers"
	"hudiscope/tools/servers/faultproxy"
)

// Server is what stands behind the faults.
type Server struct {
	URL string
	// Tables are what a directory answers for the tables on it, by what Open is given.
	Tables map[string]*answers.Answers
	// Tells is what its listings tell.
	Tells answers.Tells
	// Open opens a table by way of the proxy. By default the table is the path of a folder, with slashes
	// at both ends.
	Open func(ctx context.Context, proxy, table string, o fsadapter.Options) (storage.Source, error)
	// Store: its listings are no folders, in which names could be hidden.
	Store bool
}

// Run tries every fault before a server.
func Run(t *testing.T, s Server) {
	if s.Open == nil {
		s.Open = func(ctx context.Context, proxy, table string, o fsadapter.Options) (storage.Source, error) {
			return fsadapter.OpenURLWith(ctx, proxy+table, o)
		}
	}
	for _, c := range faultproxy.Cases {
		if s.Store && c.HidesDots {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			for table, want := range s.Tables {
				t.Run(strings.Trim(table, "/"), func(t *testing.T) {
					t.Parallel() // much of it is waiting
					try(t, s, table, c, want)
				})
			}
		})
	}
}

func try(t *testing.T, server Server, table string, c faultproxy.Case, want *answers.Answers) {
	p, err := faultproxy.New(server.URL, c.Fault)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	s := httptest.NewServer(p)
	defer s.Close()
	tells := server.Tells
	tells.NoSizes = tells.NoSizes || c.NoSizes || c.HidesDots
	tells.NoStrays = tells.NoStrays || c.HidesDots
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	// Small blocks, so that files are read in many requests as large ones are.
	o := fsadapter.Options{HTTP: httprange.Options{Backoff: time.Millisecond}, Cache: cache.Options{Small: 3000, Block: 3000, Gap: 1}}
	got, err := answers.Of(ctx, func(ctx context.Context) (storage.Source, error) { return server.Open(ctx, s.URL, table, o) })
	if err == nil {
		if c.Want == faultproxy.Fails {
			t.Errorf("it was read, with %d rows", len(got.Rows.Rows))
		}
		if err := answers.Differ(got, want, tells); err != nil {
			t.Errorf("other answers than the directory's: %v\n%s", err, strings.Join(got.Remarks(), "\n"))
		}
		return
	}
	if c.Want == faultproxy.Same {
		t.Fatal(err)
	}
	var f *storage.Fault
	switch {
	case !errors.As(err, &f):
		t.Errorf("not a fault of the storage: %v", err)
	case f.Path == "" && f.Op != "list" || f.Location == "" || f.Try == "":
		t.Errorf("the fault does not name the file, or says not what to do: %+v", *f)
	case ctx.Err() != nil:
		t.Errorf("it took too long: %v", err)
	}
	if n := p.Requests(); n > 3000 {
		t.Errorf("%d requests", n)
	}
}
