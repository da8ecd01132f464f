package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"hudiscope/core/explorer"
	"hudiscope/core/storage"
	"hudiscope/web/httpapi/server"
	"hudiscope/web/httpapi/site"
)

// shutdownTime is how long running answers may take after an interrupt.
const shutdownTime = 3 * time.Second

// runServe serves the page, and the given tables on the same origin.
func runServe(ctx context.Context, e *environment, args []string) error {
	var tables server.Tables
	names := map[string]bool{}
	for _, a := range args {
		src, err := e.flags.stores.open(ctx, a)
		if err != nil {
			return err
		}
		name := tableName(a, names)
		if err := tables.Add(name, src); err != nil {
			return err
		}
	}
	page := site.FS()
	if e.flags.dir != "" {
		page = os.DirFS(e.flags.dir)
	}
	if page == nil {
		fmt.Fprintln(e.stderr, "hudiscope: this binary was built without the page; the service answers under /api/ (make build puts the page in, --app DIR serves one)")
	} else if _, err := fs.Stat(page, "index.html"); err != nil {
		if _, gz := fs.Stat(page, "index.html.gz"); gz != nil {
			return fmt.Errorf("the page in %s has no index.html: %w", e.flags.dir, err)
		}
	}
	l, err := net.Listen("tcp", e.flags.addr)
	if err != nil {
		return err
	}
	cfg := server.Config{Page: page, Tables: &tables, Fault: explorer.ToFault,
		Service: explorer.New(func(ctx context.Context, location string) (storage.Source, error) {
			return tables.Resolve(ctx, location)
		}, e.flags.budgets())}
	if host, _, err := net.SplitHostPort(e.flags.addr); err == nil {
		if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
			cfg.Hosts = server.LoopbackHosts
		}
	}
	if e.flags.cors != "" {
		cfg.Origins = strings.Fields(strings.ReplaceAll(e.flags.cors, ",", " "))
	}
	srv := &http.Server{Handler: server.New(cfg), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, IdleTimeout: 2 * time.Minute}
	fmt.Fprintf(e.stdout, "hudiscope is on http://%s/\n", l.Addr())
	for _, n := range tables.Names() {
		fmt.Fprintf(e.stdout, "  table %s: http://%s/#/t=%s\n", n, l.Addr(), tableLink(n))
	}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	if err := srv.Shutdown(stop); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// tableLink is the address of a served table as the page's fragment holds it.
func tableLink(name string) string {
	return strings.ReplaceAll(url.QueryEscape("/tables/"+url.PathEscape(name)+"/"), "%2F", "/")
}

// tableName makes a name that is one path element and not taken, from a location.
func tableName(location string, taken map[string]bool) string {
	s := location
	if abs, err := filepath.Abs(location); err == nil && !strings.Contains(location, "://") {
		s = filepath.ToSlash(abs)
	}
	s, _, _ = strings.Cut(s, "?")
	s = strings.TrimSuffix(path.Base(strings.TrimRight(s, "/")), ".zip")
	if s == "" || s == "." || s == "/" {
		s = "table"
	}
	name := s
	for n := 2; taken[name]; n++ {
		name = fmt.Sprintf("%s-%d", s, n)
	}
	taken[name] = true
	return name
}
