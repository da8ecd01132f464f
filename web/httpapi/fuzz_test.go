package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"hudiscope/core/api"
)

// echo answers every request with its arguments.
type echo struct{}

func (echo) Do(_ context.Context, _ api.Op, args []byte, _ func(api.Progress)) (any, error) {
	return json.RawMessage(args), nil
}

// FuzzQuery: the parameters of a request become exactly its fields, or a fault that names the parameter. What they become
// is asked for again in JSON with the same outcome.
func FuzzQuery(f *testing.F) {
	ops := sorted(requests)
	for i, op := range ops {
		q := url.Values{"table": {"t"}}
		for _, name := range params(requests[op]) {
			switch name {
			case "table":
			case optPrefix + "KEY":
				q.Set(optPrefix+"as.of.instant", "2026")
			default:
				f.Add(uint8(i), "table=t&"+url.QueryEscape(name)+"=1")
				q.Set(name, "1")
			}
		}
		f.Add(uint8(i), q.Encode())
	}
	f.Add(uint8(0), "table=%zz;&=&&a=b")
	h := New(echo{}, Options{Allow: func(_ context.Context, location string) (string, error) { return location, nil }})
	f.Fuzz(func(t *testing.T, which uint8, raw string) {
		op := ops[int(which)%len(ops)]
		req := reflect.New(requests[op])
		err := fromQuery(raw, req.Elem())
		var fault *api.Fault
		if err != nil {
			if !errors.As(err, &fault) || fault.Kind != "invalid request" || fault.Message == "" {
				t.Fatalf("%q: %#v", raw, err)
			}
		} else {
			q, err := url.ParseQuery(raw)
			if err != nil {
				t.Fatalf("%q is taken: %v", raw, err)
			}
			byName := fields(req.Elem())
			for name, values := range q {
				key, option := strings.CutPrefix(name, optPrefix)
				switch v := byName[name]; {
				case option:
					if m := byName["options"].Interface().(map[string]string); m[key] != values[0] {
						t.Fatalf("%q: %v", raw, m)
					}
				case v.Kind() == reflect.Slice && !reflect.DeepEqual(v.Interface(), values), v.Kind() == reflect.String && v.String() != values[0]:
					t.Fatalf("%q: %s is %v", raw, name, v)
				}
			}
		}
		if op == api.OpExport { // its answer is a file
			return
		}
		r := httptest.NewRequest(http.MethodGet, "/api/", nil)
		r.URL = &url.URL{Path: "/api/" + string(op), RawQuery: raw}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if !json.Valid(w.Body.Bytes()) || w.Code != http.StatusOK && w.Code != http.StatusBadRequest {
			t.Fatalf("%q: %d %s", raw, w.Code, w.Body)
		}
		if w.Code != http.StatusOK {
			return
		}
		if fault != nil {
			t.Fatalf("%q is refused (%v) and answered", raw, fault)
		}
		first := w.Body.String()
		r = httptest.NewRequest(http.MethodPost, "/api/"+string(op), strings.NewReader(first))
		r.Header.Set("Content-Type", "application/json")
		w = httptest.NewRecorder()
		h.ServeHTTP(w, r)
		var was, is any
		if json.Unmarshal([]byte(first), &was) != nil || json.Unmarshal(w.Body.Bytes(), &is) != nil || w.Code != http.StatusOK || !reflect.DeepEqual(was, is) {
			t.Fatalf("%q is %s, and that %d %s", raw, first, w.Code, w.Body)
		}
	})
}

// FuzzBody: the body of a request is taken as JSON of exactly that request, or refused.
func FuzzBody(f *testing.F) {
	ops := sorted(requests)
	for i := range ops {
		f.Add(uint8(i), []byte(`{"table":"t","hudi":"1.2.0"}`))
	}
	f.Add(uint8(0), []byte(`{"table":"t"} x`))
	f.Add(uint8(0), []byte(`{"table":"t","nope":1}`))
	f.Add(uint8(0), []byte(strings.Repeat(`{"table":`, 300)))
	h := New(echo{}, Options{Allow: func(_ context.Context, location string) (string, error) { return location, nil }, MaxBody: 4096})
	f.Fuzz(func(t *testing.T, which uint8, body []byte) {
		op := ops[int(which)%len(ops)]
		if op == api.OpExport {
			return
		}
		r := httptest.NewRequest(http.MethodPost, "/api/"+string(op), strings.NewReader(string(body)))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if !json.Valid(w.Body.Bytes()) || w.Code >= 500 {
			t.Fatalf("%q: %d %s", body, w.Code, w.Body)
		}
		if w.Code == http.StatusOK && (len(body) > 4096 || !json.Valid(body)) {
			t.Fatalf("%q is taken", body)
		}
	})
}
