package upload

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"syscall/js"
	"testing"
	"time"

	"hudiscope/core/corrupt"
	"hudiscope/core/storage"
	"hudiscope/core/storage/cache"
	"hudiscope/core/storage/storagetest"
)

// file makes a File object, which Node has too.
func file(name string, b []byte) js.Value {
	u := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(u, b)
	parts := js.Global().Get("Array").New()
	parts.Call("push", u)
	buffer := js.Global().Call("require", "buffer")
	return buffer.Get("File").New(parts, name, map[string]any{"lastModified": 1772900000000})
}

func list(files map[string][]byte, prefix string) js.Value {
	a := js.Global().Get("Array").New()
	for p, b := range files {
		o := js.Global().Get("Object").New()
		o.Set("path", prefix+p)
		o.Set("file", file(p, b))
		a.Call("push", o)
	}
	return a
}

func TestConformance(t *testing.T) {
	files := storagetest.Files()
	for _, prefix := range []string{"", "/trips/", "a/b/"} {
		src, err := New(t.Context(), list(files, prefix), cache.Options{})
		if err != nil {
			t.Fatal(err)
		}
		storagetest.Run(t, src, files)
	}
	src, _ := New(t.Context(), list(files, "t/"), cache.Options{})
	l, err := src.List(t.Context(), "region=eu")
	if err != nil || !l.Entries[0].ModTime.Equal(time.Unix(1772900000, 0)) {
		t.Errorf("%+v, %v", l, err)
	}
}

func TestZipAndSingle(t *testing.T) {
	files := storagetest.Files()
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	for p, b := range files {
		w, _ := z.Create("trips/" + p)
		w.Write(b)
	}
	z.Close()
	src, err := New(t.Context(), list(map[string][]byte{"trips.zip": buf.Bytes()}, ""), cache.Options{})
	if err != nil {
		t.Fatal(err)
	}
	storagetest.Run(t, src, files)
	one := map[string][]byte{".f-0_1.log.1_0-1-1": []byte("#HUDI#abc")}
	src, err = New(t.Context(), list(one, ""), cache.Options{})
	if err != nil {
		t.Fatal(err)
	}
	storagetest.Run(t, src, one)
}

func TestTar(t *testing.T) {
	files := storagetest.Files()
	var plain bytes.Buffer
	w := tar.NewWriter(&plain)
	for p, b := range files {
		w.WriteHeader(&tar.Header{Name: "./trips/" + p, Mode: 0o644, Size: int64(len(b)), ModTime: time.Unix(1772900000, 0)})
		w.Write(b)
	}
	w.Close()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(plain.Bytes())
	z.Close()
	for name, b := range map[string][]byte{"trips.tar": plain.Bytes(), "trips.tar.gz": packed.Bytes(), "T.TGZ": packed.Bytes()} {
		src, err := New(t.Context(), list(map[string][]byte{name: b}, ""), cache.Options{})
		if err != nil {
			t.Fatal(name, err)
		}
		storagetest.Run(t, src, files)
		l, err := src.List(t.Context(), "region=eu")
		if err != nil || !l.Entries[0].ModTime.Equal(time.Unix(1772900000, 0)) {
			t.Errorf("%s: %+v, %v", name, l, err)
		}
		for _, n := range []int{1, 30, len(b) / 2, len(b) - 1100, len(b) - 3} {
			if name == "trips.tar" && n == len(b)-3 {
				n = len(b) - 600
			}
			if _, err := New(t.Context(), list(map[string][]byte{name: b[:max(n, 1)]}, ""), cache.Options{}); !corrupt.Is(err) {
				t.Errorf("%s cut at %d: %v", name, n, err)
			}
		}
	}
	// A small archive of very much is refused before much of it is unpacked.
	var bomb bytes.Buffer
	z = gzip.NewWriter(&bomb)
	w = tar.NewWriter(z)
	w.WriteHeader(&tar.Header{Name: "t/.hoodie/hoodie.properties", Mode: 0o644, Size: MaxUnpacked + 1})
	z.Flush()
	z.Close()
	_, err := New(t.Context(), list(map[string][]byte{"bomb.tar.gz": bomb.Bytes()}, ""), cache.Options{})
	var f *storage.Fault
	if !errors.As(err, &f) || f.Kind != storage.Refused || f.Try == "" {
		t.Errorf("a bomb: %v", err)
	}
}

func TestBadInput(t *testing.T) {
	for _, v := range []js.Value{js.Undefined(), js.Null(), js.ValueOf("x"), js.ValueOf([]any{}), js.ValueOf([]any{1}), js.ValueOf([]any{map[string]any{"path": "a"}})} {
		_, err := New(t.Context(), v, cache.Options{})
		var f *storage.Fault
		if !errors.As(err, &f) {
			t.Errorf("%v: %v", v, err)
		}
	}
}

// What a browser does when the file was changed on the disk since.
func TestFileGone(t *testing.T) {
	fake := js.Global().Call("eval", `({path:"f.parquet", file:{size: 5, slice(){ return {arrayBuffer(){ const e=new Error("gone"); e.name="NotReadableError"; return Promise.reject(e)}}}}})`)
	src, err := New(t.Context(), js.ValueOf([]any{fake}), cache.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = storage.ReadAll(t.Context(), src, "f.parquet", 0)
	var f *storage.Fault
	if !errors.As(err, &f) || f.Kind != storage.Changed || f.Try == "" {
		t.Errorf("got %v", err)
	}
	// A read that never ends can be left.
	slow := js.Global().Call("eval", `({path:"f.parquet", file:{size: 5, slice(){ return {arrayBuffer(){ return new Promise(()=>{})}}}}})`)
	src, _ = New(t.Context(), js.ValueOf([]any{slow}), cache.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := storage.ReadAll(ctx, src, "f.parquet", 0); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}
