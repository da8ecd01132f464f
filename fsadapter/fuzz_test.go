package fsadapter_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"hudiscope/core/storage"
	"hudiscope/fsadapter"
	"hudiscope/fsadapter/azure"
	"hudiscope/fsadapter/gcs"
	"hudiscope/fsadapter/httprange"
	"hudiscope/fsadapter/s3"
	"hudiscope/fsadapter/signer"
)

// nobody answers nothing and notes what was asked.
type nobody struct{ asked []string }

func (n *nobody) Fetch(_ context.Context, req *httprange.Request) (*httprange.Response, error) {
	n.asked = append(n.asked, req.URL)
	return nil, &httprange.NoAnswer{Err: errors.New("nobody answers")}
}

// FuzzLocation: an address of a table, of any kind of store, opens without a request unless it names a file, or is refused by a
// fault that tells what to give instead. What a source shows of its place has neither a query nor a user.
func FuzzLocation(f *testing.F) {
	for _, s := range []string{"https://h/t/", "https://h/t.zip?sig=SECRET", "http://u:p@h:8080/a%20b/#x", "s3://bucket/a/b?endpoint=https://h:9000&region=eu&style=path&requester_pays=true", "s3a://b", "s3://KEY:SECRET@b/x",
		"gs://b/p/hoodie.json", "gcs://b?x", "abfss://c@acc.dfs.core.windows.net/p", "wasbs://c@a/p?sv=1&sig=SECRET", "https://acc.blob.core.windows.net/c/p%20q?sv=1&sig=SECRET", "signer+https://h/sign?key=SECRET#a/b",
		"signer+http://h", "ftp://h/x", "https://[::1]:80/", "https://h:99999/", "s3://b/../../x", "//h/x", "C:\\x", "https://h/%zz", "https://\x00/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, location string) {
		server := &nobody{}
		src, err := fsadapter.OpenURLWith(context.Background(), location, fsadapter.Options{HTTP: httprange.Options{Fetcher: server, Attempts: 1}})
		if err != nil {
			var fault *storage.Fault
			if !errors.As(err, &fault) || fault.Kind == storage.Refused && fault.Try == "" {
				t.Fatalf("%q: %#v", location, err)
			}
		} else {
			shown := src.Location()
			if shown == "" {
				t.Fatalf("%q has no place", location)
			}
			if scheme, rest, ok := strings.Cut(shown, "://"); ok && (scheme == "http" || scheme == "https") {
				host, _, _ := strings.Cut(rest, "/")
				if strings.ContainsAny(rest, "?#") || strings.Contains(host, "@") {
					t.Fatalf("%q is shown as %q", location, shown)
				}
			}
			if len(server.asked) > 0 {
				t.Fatalf("%q asks for %q", location, server.asked)
			}
		}
		for what, err := range map[string]error{
			"s3": second(s3.ParseLocation(location, s3.Settings{})), "gcs": second(gcs.ParseLocation(location)),
			"azure": second(azure.ParseLocation(location, "", "")), "signer": second(signer.ParseLocation(location)),
		} {
			var fault *storage.Fault
			if err != nil && (!errors.As(err, &fault) || fault.Kind != storage.Refused || fault.Try == "") {
				t.Fatalf("%s: %q: %#v", what, location, err)
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }
