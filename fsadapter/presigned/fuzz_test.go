package presigned

import (
	"errors"
	"strings"
	"testing"

	"hudiscope/core/storage"
)

// FuzzBundle: a bundle is taken, with addresses that can be asked, or refused in words that hold none of them.
func FuzzBundle(f *testing.F) {
	f.Add([]byte(`{"v": 1, "base": "trips", "expires": "2026-12-01T00:00:00Z", "renew": "https://a/b?key=SECRET", "files": {".hoodie/hoodie.properties": {"url": "https://h/x?sig=SECRET", "size": 1054}}}`))
	f.Add([]byte(`{"v":1,"files":{"a":{"url":"https://h/?SECRET"},"a/b":{"url":"http://h/?SECRET","size":-1}}}`))
	f.Add([]byte(`{"v":2,"files":{"../a":{"url":"ftp://SECRET"}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		IsBundle(b)
		bundle, err := Parse(b, "a bundle")
		if err != nil {
			var fault *storage.Fault
			if !errors.As(err, &fault) || fault.Kind != storage.Refused && fault.Kind != storage.NotFound {
				t.Fatalf("%#v", err)
			}
			if strings.Contains(err.Error(), "://") && !strings.Contains(string(b), `"v"`) {
				t.Errorf("an address: %v", err)
			}
			return
		}
		for p, file := range bundle.Files {
			if p == "" || !strings.Contains(file.URL, "://") {
				t.Errorf("%q: %q", p, file.URL)
			}
		}
	})
}
