package httprange

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"syscall/js"
	"testing"
	"time"

	"hudiscope/core/storage"
	"hudiscope/core/storage/cache"
	"hudiscope/core/storage/storagetest"
	"hudiscope/fsadapter/internal/jswait"
)

// server is a web server in Node, with nginx's JSON listings. A first folder "cut" or
// "hang" in the path breaks the body off or stops sending; it counts requests it saw
// aborted.
const server = `(files) => new Promise(done => {
	const state = {aborted: 0, seen: []};
	const srv = require("http").createServer((req, res) => {
		let p = decodeURIComponent(req.url.split("?")[0]).slice(1), mode = "";
		state.seen.push(req.method + " " + req.url + " " + (req.headers.range || "") + " " + (req.headers["accept-encoding"] || ""));
		for (const m of ["cut", "hang", "plain", "mute"]) if (p.startsWith(m + "/")) { mode = m; p = p.slice(m.length + 1); }
		if (mode === "mute") { res.on("close", () => state.aborted++); return; }
		if (p === "" || p.endsWith("/")) {
			const names = {}; let any = p === "";
			for (const f of Object.keys(files)) if (f.startsWith(p)) {
				any = true;
				const rest = f.slice(p.length), i = rest.indexOf("/");
				if (i >= 0) names[rest.slice(0, i)] = {name: rest.slice(0, i), type: "directory"};
				else names[rest] = {name: rest, type: "file", size: files[f].length};
			}
			if (!any) { res.writeHead(404); return res.end(); }
			res.writeHead(200, {"content-type": "application/json"});
			return res.end(JSON.stringify(Object.values(names)));
		}
		const b = files[p];
		if (!b) { res.writeHead(404); return res.end("absent"); }
		const m = /^bytes=(\d+)-(\d+)$/.exec(req.headers.range || "");
		if (!m || mode === "plain") { res.writeHead(200, {"content-length": b.length}); return res.end(b); }
		const from = +m[1], to = Math.min(+m[2], b.length - 1);
		if (from >= b.length) { res.writeHead(416, {"content-range": "bytes */" + b.length}); return res.end("no"); }
		res.writeHead(206, {"content-range": "bytes " + from + "-" + to + "/" + b.length, "content-length": to - from + 1, etag: '"x"', "content-type": "application/octet-stream"});
		const part = b.subarray(from, to + 1);
		if (mode === "") return res.end(part);
		res.on("close", () => { if (!res.writableFinished) state.aborted++; });
		res.write(part.subarray(0, part.length / 2), () => { if (mode === "cut") req.socket.destroy(); });
	});
	srv.listen(0, "127.0.0.1", () => done({state, url: "http://127.0.0.1:" + srv.address().port, close: () => { srv.closeAllConnections(); srv.close(); }}));
})`

func serve(t *testing.T, files map[string][]byte) (base string, state js.Value) {
	t.Helper()
	o := js.Global().Get("Object").New()
	for p, b := range files {
		u := js.Global().Get("Uint8Array").New(len(b))
		js.CopyBytesToJS(u, b)
		o.Set(p, u)
	}
	srv, err := jswait.Await(t.Context(), js.Global().Call("eval", server).Invoke(o))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Call("close") })
	return srv.Get("url").String(), srv.Get("state")
}

func TestConformance(t *testing.T) {
	files := storagetest.Files()
	base, state := serve(t, files)
	for _, mode := range []string{"", "/plain"} {
		src, err := New(base+mode, Options{})
		if err != nil {
			t.Fatal(err)
		}
		storagetest.Run(t, src, files)
		storagetest.Run(t, cache.New(src, cache.Options{}), files)
	}
	for i := range state.Get("seen").Length() {
		s := state.Get("seen").Index(i).String()
		if strings.Contains(s, "bytes=") && !strings.Contains(s, "identity") {
			t.Errorf("a range was asked for without identity: %s", s)
			break
		}
	}
}

func TestCutBody(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789"), 20_000)
	base, _ := serve(t, map[string][]byte{"f": data})
	src, _ := New(base+"/cut", Options{Backoff: time.Millisecond, Attempts: 2})
	_, err := storage.ReadAll(t.Context(), src, "f", 0)
	var f *storage.Fault
	if !errors.As(err, &f) || f.Kind != storage.Truncated && f.Kind != storage.Unreachable {
		t.Errorf("got %v, want Truncated", err)
	}
}

func TestAbort(t *testing.T) {
	base, state := serve(t, map[string][]byte{"f": make([]byte, 200_000)})
	src, _ := New(base+"/hang?sig=SECRET", Options{})
	o, _ := src.Open(t.Context(), "f")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	begin := time.Now()
	_, err := o.ReadAt(ctx, make([]byte, 200_000), 0)
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > 2*time.Second {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
	for end := time.Now().Add(3 * time.Second); state.Get("aborted").Int() == 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the server did not see the abort")
		}
	}
}

// A server that sends nothing more is given up, and sees that.
func TestStallIsEnded(t *testing.T) {
	base, state := serve(t, map[string][]byte{"f": make([]byte, 200_000)})
	for _, mode := range []string{"/hang", "/mute"} {
		before := state.Get("aborted").Int()
		src, _ := New(base+mode+"?sig=SECRET", Options{Idle: 100 * time.Millisecond, Backoff: time.Millisecond})
		begin := time.Now()
		_, err := storage.ReadAll(t.Context(), src, "f", 200_000)
		var f *storage.Fault
		if !errors.As(err, &f) || f.Kind != storage.Truncated && f.Kind != storage.Unreachable || !strings.Contains(err.Error(), "no byte for 100ms") || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v", mode, err)
		}
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("%s: it took %v", mode, took)
		}
		for end := time.Now().Add(3 * time.Second); state.Get("aborted").Int() < before+2; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: the server saw %d aborts, want 2", mode, state.Get("aborted").Int()-before)
			}
		}
	}
}

func TestUnreachableIsExplained(t *testing.T) {
	src, _ := New("http://127.0.0.1:1/t?sig=SECRET", Options{})
	for _, err := range []error{
		func() error { _, err := src.List(t.Context(), ""); return err }(),
		func() error { _, err := storage.ReadAll(t.Context(), src, "f", 0); return err }(),
	} {
		var f *storage.Fault
		if !errors.As(err, &f) || f.Kind != storage.Unreachable || !strings.Contains(f.Try, "Access-Control-Allow-Origin") || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("got %v", err)
		}
	}
	// A URL that fetch itself refuses is an error, not a panic.
	src, _ = New("http://user:hush@127.0.0.1:1/t", Options{})
	_, err := src.List(t.Context(), "")
	var f *storage.Fault
	if !errors.As(err, &f) || f.Kind != storage.Unreachable || strings.Contains(err.Error(), "hush") {
		t.Errorf("got %v", err)
	}
}

// What signers and tokens need: a body, its type, and a header of authorization.
func TestBodyAndAuthorization(t *testing.T) {
	echo := `() => new Promise(done => {
		const srv = require("http").createServer((req, res) => {
			let b = ""; req.on("data", d => b += d); req.on("end", () => res.end(req.method + " " + req.headers.authorization + " " + req.headers["content-type"] + " " + b));
		});
		srv.listen(0, "127.0.0.1", () => done({url: "http://127.0.0.1:" + srv.address().port, close: () => { srv.closeAllConnections(); srv.close(); }}));
	})`
	srv, err := jswait.Await(t.Context(), js.Global().Call("eval", echo).Invoke())
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Call("close")
	target := &Target{Request: func(context.Context, string) (*Request, error) {
		return &Request{URL: srv.Get("url").String(), Authorization: "Bearer x", Body: []byte(`{"é":1}`), ContentType: "application/json"}, nil
	}}
	b, err := NewClient(Options{}).Fetch(t.Context(), target, "POST", "list", "", "x")
	if want := `POST Bearer x application/json {"é":1}`; err != nil || string(b) != want {
		t.Errorf("%q, %v, want %q", b, err, want)
	}
}
