//go:build !js

package httprange

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hudiscope/core/storage"
)

// A page whose connection ends early, without a length, is asked for again and never taken for whole.
func TestCutListing(t *testing.T) {
	page := "<html><head><title>Index of /t/</title></head><body><pre><a href=\"../\">../</a>\n<a href=\".hoodie/\">.hoodie/</a>\n<a href=\"a.parquet\">a.parquet</a>\n</pre></body></html>"
	for _, c := range []struct {
		cuts int32 // answers that are cut before a whole one
		ok   bool
	}{{2, true}, {1000, false}} {
		var asked atomic.Int32
		s := &site{before: func(w http.ResponseWriter, r *http.Request, p string) bool {
			if r.Method != "GET" {
				return false
			}
			body := page
			if asked.Add(1) <= c.cuts {
				body = page[:strings.Index(page, "<a href=\"a.")]
			}
			conn, buf, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return true
			}
			defer conn.Close()
			fmt.Fprintf(buf, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n%s", body)
			buf.Flush()
			return true
		}}
		src := start(t, s, Options{Attempts: 3})
		l, err := src.List(t.Context(), "")
		if c.ok {
			if err != nil || !l.Complete || len(l.Entries) != 2 {
				t.Errorf("%+v, %v", l, err)
			}
		} else {
			kind(t, err, storage.Truncated)
		}
		if n := asked.Load(); n != 3 {
			t.Errorf("%d requests, want 3", n)
		}
	}
}

// A server that takes a request and says nothing, or stops within a body, is given up after one more
// attempt; one that is slow but goes on is not.
func TestStall(t *testing.T) {
	const idle = 150 * time.Millisecond
	data := bytes.Repeat([]byte("x"), 1000)
	var mode atomic.Value
	var stalls atomic.Int32
	stop := make(chan struct{})
	s := &site{files: map[string][]byte{"f": data}}
	s.before = func(w http.ResponseWriter, r *http.Request, p string) bool {
		wait := func() {
			select {
			case <-r.Context().Done():
			case <-stop:
			}
		}
		switch mode.Load() {
		case "once":
			if stalls.Add(1) > 1 {
				return false
			}
			wait()
			return true
		case "headers":
			stalls.Add(1)
			wait()
			return true
		case "body":
			stalls.Add(1)
			w.Header().Set("Content-Range", strings.Replace(r.Header.Get("Range"), "=", " ", 1)+"/1000")
			w.Header().Set("Content-Type", "application/json")
			status := 206
			if r.Header.Get("Range") == "" {
				status = 200
			}
			w.WriteHeader(status)
			w.Write([]byte("[      "))
			w.(http.Flusher).Flush()
			wait()
			return true
		case "slow":
			w.Header().Set("Content-Range", "bytes 0-999/1000")
			w.WriteHeader(206)
			for i := range 10 {
				w.Write(data[i*100 : i*100+100])
				w.(http.Flusher).Flush()
				time.Sleep(idle / 4)
			}
			return true
		}
		return false
	}
	mode.Store("")
	read := func(src *Source) error {
		o, err := src.Open(t.Context(), "f")
		if err != nil {
			t.Fatal(err)
		}
		defer o.Close()
		return storage.ReadFull(t.Context(), o, make([]byte, 1000), 0)
	}
	defer close(stop)
	for _, m := range []string{"once", "headers", "body", "slow"} {
		for _, list := range []bool{false, true} {
			if m == "slow" && list {
				continue
			}
			t.Run(fmt.Sprint(m, list), func(t *testing.T) {
				mode.Store(m)
				stalls.Store(0)
				src := start(t, s, Options{Idle: idle})
				begin := time.Now()
				var err error
				if list {
					_, err = src.page(t.Context(), "")
				} else {
					err = read(src)
				}
				took := time.Since(begin)
				switch m {
				case "once", "slow":
					if err != nil {
						t.Errorf("%v after %v", err, took)
					}
					if m == "slow" && took < 2*idle {
						t.Errorf("it took %v only", took)
					}
				default:
					want := storage.Unreachable
					if m == "body" {
						want = storage.Truncated
					}
					f := kind(t, err, want)
					if f == nil || !strings.Contains(f.Error(), "no byte for 150ms") || f.Try == "" {
						t.Errorf("%v", err)
					}
					if n := stalls.Load(); n != 2 || took < 2*idle || took > 20*idle {
						t.Errorf("%d requests in %v, want 2", n, took)
					}
				}
			})
		}
	}
	if got := (&stall{60 * time.Second}).Error(); got != "no byte for 60 s" {
		t.Error(got)
	}
}
