package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"hudiscope/core/api"
	"hudiscope/core/storage"
)

// prefix is where table directories are served.
const prefix = "/tables/"

// Tables are the tables a server offers, by name. Their files are served below
// /tables/NAME/, with listings, and the service opens them by NAME.
type Tables struct {
	mu     sync.RWMutex
	byName map[string]storage.Source
}

// Add offers a table under a name, which is one path element.
func (t *Tables) Add(name string, src storage.Source) error {
	if !fs.ValidPath(name) || name == "." || strings.Contains(name, "/") {
		return fmt.Errorf("%q can't be the name of a table: it must be one path element", name)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.byName[name]; ok {
		return fmt.Errorf("there are two tables named %q", name)
	}
	if t.byName == nil {
		t.byName = map[string]storage.Source{}
	}
	t.byName[name] = src
	return nil
}

// Names lists the tables, sorted.
func (t *Tables) Names() []string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	var out []string
	for n := range t.byName {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// Allow accepts the names of the tables, also written as /tables/NAME/, and nothing
// else. It is an httpapi.Options.Allow.
func (t *Tables) Allow(_ context.Context, location string) (string, error) {
	name := strings.TrimPrefix(strings.TrimPrefix(location, "/"), "tables/")
	name = strings.TrimSuffix(name, "/")
	t.mu.RLock()
	defer t.mu.RUnlock()
	if _, ok := t.byName[name]; ok {
		return name, nil
	}
	return "", &api.Fault{Kind: "forbidden", Offset: -1, Message: fmt.Sprintf("The table %q is not offered by this server.", location),
		Try: "The tables it offers are listed at " + prefix + "."}
}

// Resolve returns the source of a table by its name. It is an explorer.Resolver.
func (t *Tables) Resolve(_ context.Context, name string) (storage.Source, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if src, ok := t.byName[name]; ok {
		return src, nil
	}
	return nil, &storage.Fault{Op: "open", Location: name, Kind: storage.NotFound, Try: "The tables of this server are listed at " + prefix + "."}
}

// modTimer is implemented by objects that know when their file was changed. The
// server then sends Last-Modified and an ETag.
type modTimer interface{ ModTime() time.Time }

// entry is one name of a listing, in the form of nginx's autoindex_format json.
type entry struct {
	Name  string `json:"name"`
	Type  string `json:"type"` // "file" or "directory"
	MTime string `json:"mtime,omitempty"`
	Size  *int64 `json:"size,omitempty"`
}

// ServeHTTP serves the files and listings below /tables/.
func (t *Tables) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-cache")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "Tables are only read.", http.StatusMethodNotAllowed)
		return
	}
	rest := strings.TrimPrefix(r.URL.Path, prefix)
	if rest == "" {
		var all []entry
		for _, n := range t.Names() {
			all = append(all, entry{Name: n, Type: "directory"})
		}
		list(w, r, "Tables", false, all)
		return
	}
	name, file, slash := strings.Cut(rest, "/")
	src, err := t.Resolve(r.Context(), name)
	if err != nil {
		http.Error(w, "There is no table of that name.", http.StatusNotFound)
		return
	}
	if !slash {
		redirect(w, name+"/")
		return
	}
	dir := file == "" || strings.HasSuffix(file, "/")
	file = strings.TrimSuffix(file, "/")
	// An adapter must refuse such paths too; this holds whatever the adapter does.
	if file != "" && (!fs.ValidPath(file) || file == "." || strings.ContainsAny(file, "\\\x00")) {
		http.Error(w, "This is not a path inside the table.", http.StatusBadRequest)
		return
	}
	if dir {
		t.listing(w, r, src, name, file)
		return
	}
	serveFile(w, r, src, file)
}

func redirect(w http.ResponseWriter, to string) {
	// Relative, so that the server may lie below a path of another one.
	w.Header().Set("Location", "./"+(&url.URL{Path: to}).EscapedPath())
	w.WriteHeader(http.StatusMovedPermanently)
}

func (t *Tables) listing(w http.ResponseWriter, r *http.Request, src storage.Source, name, dir string) {
	l, err := src.List(r.Context(), dir)
	if err != nil {
		fail(w, err)
		return
	}
	all := make([]entry, 0, len(l.Entries))
	for _, e := range l.Entries {
		x := entry{Name: e.Name, Type: "file"}
		switch {
		case e.Dir:
			x.Type = "directory"
		case e.Size >= 0:
			x.Size = &e.Size
		}
		if !e.ModTime.IsZero() {
			x.MTime = e.ModTime.UTC().Format(http.TimeFormat)
		}
		all = append(all, x)
	}
	list(w, r, path.Join(name, dir), true, all)
}

// list writes a listing: JSON for who asks for it, else HTML.
func list(w http.ResponseWriter, r *http.Request, title string, parent bool, all []entry) {
	w.Header().Add("Vary", "Accept")
	if accepts(r.Header.Get("Accept"), "application/json") {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		if all == nil {
			all = []entry{}
		}
		_ = json.NewEncoder(w).Encode(all) // the client is gone
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	_ = listPage.Execute(w, struct {
		Title   string
		Parent  bool
		Entries []entry
	}{title, parent, all})
}

var listPage = template.Must(template.New("list").Funcs(template.FuncMap{
	// A name with a colon would be taken for a scheme without the "./".
	"href": func(e entry) string {
		u := "./" + strings.ReplaceAll(url.PathEscape(e.Name), "+", "%2B")
		if e.Type == "directory" {
			u += "/"
		}
		return u
	},
}).Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{{.Title}}</title>
<style>:root{color-scheme:light dark}body{font:14px/1.5 ui-monospace,monospace;margin:2rem}table{border-spacing:0}td{padding:0 2rem 0 0}td:nth-child(2){text-align:right}</style></head>
<body><h1>{{.Title}}</h1><table>
{{if .Parent}}<tr><td><a href="../">../</a></td><td></td><td></td></tr>
{{end}}{{range .Entries}}<tr><td><a href="{{href .}}">{{.Name}}{{if eq .Type "directory"}}/{{end}}</a></td><td>{{with .Size}}{{.}}{{end}}</td><td>{{.MTime}}</td></tr>
{{end}}</table></body></html>
`))

// accepts reports whether a media type is named in an Accept header with a weight above 0.
func accepts(header, typ string) bool {
	for v := range strings.SplitSeq(header, ",") {
		t, p, err := mime.ParseMediaType(v)
		if err != nil || t != typ {
			continue
		}
		q, err := strconv.ParseFloat(p["q"], 64)
		return p["q"] == "" || (err == nil && q > 0)
	}
	return false
}

func serveFile(w http.ResponseWriter, r *http.Request, src storage.Source, file string) {
	o, err := src.Open(r.Context(), file)
	if err == nil {
		defer o.Close()
		var size int64
		if size, err = o.Size(r.Context()); err == nil {
			w.Header().Set("Content-Type", "application/octet-stream")
			var mod time.Time
			if m, ok := o.(modTimer); ok {
				if mod = m.ModTime(); !mod.IsZero() {
					w.Header().Set("ETag", fmt.Sprintf(`"%x-%x"`, size, mod.UnixNano()))
				}
			}
			http.ServeContent(w, r, "", mod, io.NewSectionReader(storage.ReaderAt(r.Context(), o), 0, size))
			return
		}
	}
	if l, lerr := src.List(r.Context(), file); lerr == nil && (len(l.Entries) > 0 || !storage.IsNotExist(err)) {
		redirect(w, path.Base(file)+"/")
		return
	}
	fail(w, err)
}

func fail(w http.ResponseWriter, err error) {
	var f *storage.Fault
	switch {
	case storage.IsNotExist(err):
		http.Error(w, "There is no such file or directory in the table.", http.StatusNotFound)
	case errors.Is(err, fs.ErrPermission), errors.As(err, &f) && (f.Kind == storage.Forbidden || f.Kind == storage.Refused):
		http.Error(w, "This file may not be read.", http.StatusForbidden)
	case errors.As(err, &f) && f.Kind == storage.NoListing:
		http.Error(w, "This place can't be listed.", http.StatusNotFound)
	default:
		http.Error(w, "The file can't be read.", http.StatusInternalServerError)
	}
}
