package faultproxy_test

import (
	"context"
	"hudiscope/fsadapter"
	"hudiscope/tools/servers/faultproxy"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hudiscope/core/storage"
	"hudiscope/core/tabletest"
	"hudiscope/tools/servers/answers"
	"hudiscope/tools/servers/faulttest"
	"hudiscope/web/httpapi/server"
)

// Every fault before "hudiscope serve" itself, whose server needs nothing to be installed.
func TestFaults(t *testing.T) {
	tables := &server.Tables{}
	want := map[string]*answers.Answers{}
	for _, name := range []string{"cow_trips_h102", "mor_trips_h120", "mor_compacted_h0150", "part_url_encoded_h120"} {
		src := tabletest.Open(t, name)
		if err := tables.Add(name, src); err != nil {
			t.Fatal(err)
		}
		a, err := answers.Of(t.Context(), func(context.Context) (storage.Source, error) { return src, nil })
		if err != nil || len(a.Rows.Rows) < 3 {
			t.Fatal(err)
		}
		want["/tables/"+name+"/"] = a
	}
	s := httptest.NewServer(server.New(server.Config{Tables: tables}))
	t.Cleanup(s.Close)
	faulttest.Run(t, faulttest.Server{URL: s.URL, Tables: want, Tells: answers.Tells{NoTimes: true}})
}

// A server that does not list names that begin with a dot shows no log file, no partition marker and
// no archive of an old table. Their names come from the table itself, and every table is read whole.
func TestHiddenDotNames(t *testing.T) {
	hides := faultproxy.Fault{Answer: func(x *faultproxy.Exchange) {
		if x.Method != http.MethodGet {
			x.Empty(http.StatusMethodNotAllowed)
		} else if err := x.HideDots(); err != nil {
			x.Status, x.Body = 500, []byte(err.Error())
		}
	}}
	// Log files of failed writes, and those that tell of their rollback, are named by no completed
	// instant. They hold no rows of the table.
	uncommitted := map[string]bool{"mor_rollback_h0150": true, "mor_rollback_retry_h0150": true, "inflight_leftover_mor_h0150": true,
		"savepoint_restore_h0150": true, "inflight_leftover_mor_h120": true}
	for _, name := range tabletest.Names(t, "") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src := tabletest.Open(t, name)
			want, wantErr := answers.Of(t.Context(), func(context.Context) (storage.Source, error) { return src, nil })
			tables := &server.Tables{}
			if err := tables.Add(name, src); err != nil {
				t.Fatal(err)
			}
			if source, err := src.Sibling(t.Context(), name+"_source"); err == nil { // of a bootstrap
				if err := tables.Add(name+"_source", source); err != nil {
					t.Fatal(err)
				}
			}
			s := httptest.NewServer(server.New(server.Config{Tables: tables}))
			defer s.Close()
			p, err := faultproxy.New(s.URL, hides)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			front := httptest.NewServer(p)
			defer front.Close()
			got, err := answers.Of(t.Context(), func(ctx context.Context) (storage.Source, error) {
				return fsadapter.OpenURLWith(ctx, front.URL+"/tables/"+name+"/", fsadapter.Options{})
			})
			if wantErr != nil {
				if err == nil {
					t.Errorf("it was read; the directory gives %v", wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := answers.Differ(got, want, answers.Tells{NoSizes: true, NoTimes: true, NoStrays: true, OnlyRows: uncommitted[name]}); err != nil {
				t.Errorf("%v\n%s", err, strings.Join(got.Remarks(), "\n"))
			}
		})
	}
}
