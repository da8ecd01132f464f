package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"hudiscope/core/storage"
	"hudiscope/fsadapter"
	"hudiscope/fsadapter/manifest"
	"hudiscope/fsadapter/presigned"
	"hudiscope/fsadapter/s3"
)

// storeFlags are how object stores are reached. Keys, signatures and tokens come from the
// environment alone: a command line can be seen by everyone on the machine.
type storeFlags struct {
	endpoint, region, style string
	pays, public            bool
	project                 string
	out                     string
	valid                   time.Duration
}

func (s *storeFlags) register(command string, fs *flag.FlagSet) {
	fs.StringVar(&s.endpoint, "endpoint", "", "`URL` of the object store (s3://, gs://, abfss://) if it is not the cloud's own")
	fs.StringVar(&s.region, "region", "", "s3://: the bucket's `region` (default $AWS_REGION, or what the store says)")
	fs.StringVar(&s.style, "style", "", "s3://: how addresses name the bucket, path or virtual")
	fs.BoolVar(&s.pays, "requester-pays", false, "s3://: pay for the requests yourself, as some buckets demand")
	fs.BoolVar(&s.public, "public", false, "use no keys or tokens of the environment")
	fs.StringVar(&s.project, "billing-project", "", "gs://: the `project` that pays for the requests")
	switch command {
	case "manifest":
		fs.StringVar(&s.out, "out", "", "write to this `file`, - for standard output (default "+manifest.Name+" in TABLE if it is a directory, else here)")
	case "bundle":
		fs.StringVar(&s.out, "out", "-", "write to this `file`, - for standard output")
		fs.DurationVar(&s.valid, "valid", 12*time.Hour, "how long the URLs are valid, at most 168h and no longer than temporary keys")
	}
}

// options are those of the environment and of the flags.
func (s *storeFlags) options() fsadapter.Options {
	getenv := os.Getenv
	if s.public {
		getenv = func(name string) string {
			switch name {
			case "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "STORAGE_EMULATOR_HOST":
				return os.Getenv(name)
			}
			return ""
		}
	}
	o := fsadapter.FromEnv(getenv)
	set := func(to *string, v string) {
		if v != "" {
			*to = v
		}
	}
	set(&o.S3.Endpoint, s.endpoint)
	set(&o.Azure.Endpoint, s.endpoint)
	set(&o.GCS.Endpoint, s.endpoint)
	set(&o.S3.Region, s.region)
	set(&o.S3.Style, s.style)
	set(&o.GCS.UserProject, s.project)
	o.S3.RequesterPays = o.S3.RequesterPays || s.pays
	return o
}

// open opens a location.
func (s *storeFlags) open(ctx context.Context, location string) (storage.Source, error) {
	return fsadapter.OpenWith(ctx, location, s.options())
}

const listInFlight = 6

// runManifest writes the list of a table's files.
func runManifest(ctx context.Context, e *environment, args []string) error {
	t, err := e.table(args, 1)
	if err != nil {
		return err
	}
	src, err := e.flags.stores.open(ctx, t.Location)
	if err != nil {
		return err
	}
	m, err := manifest.Make(ctx, src, listInFlight, time.Now())
	if err != nil {
		return err
	}
	b, err := m.Encode()
	if err != nil {
		return err
	}
	out := e.flags.stores.out
	if out == "" {
		out = manifest.Name
		if fi, err := os.Stat(t.Location); err == nil && fi.IsDir() {
			out = filepath.Join(t.Location, manifest.Name)
		}
	}
	return e.write(out, b, len(m.Files))
}

// write writes a document of n files to a file (writeFile), or to standard output.
func (e *environment) write(out string, b []byte, n int) error {
	if out == "-" {
		_, err := e.stdout.Write(b)
		return err
	}
	if err := writeFile(out, func(w io.Writer) error { _, err := w.Write(b); return err }); err != nil {
		return err
	}
	fmt.Fprintf(e.stderr, "%s: %d files, %d bytes\n", out, n, len(b))
	return nil
}

// runBundle writes presigned URLs of all files of a table in a bucket.
func runBundle(ctx context.Context, e *environment, args []string) error {
	t, err := e.table(args, 1)
	if err != nil {
		return err
	}
	valid := e.flags.stores.valid.Truncate(time.Second)
	if valid < time.Minute || valid > 7*24*time.Hour {
		return usageError("--valid must lie between 1m and 168h")
	}
	c, err := s3.ParseLocation(t.Location, e.flags.stores.options().S3)
	if err != nil {
		return err
	}
	if c.Keys == nil {
		return errors.New("a bundle is signed with keys: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and AWS_SESSION_TOKEN)")
	}
	src, err := s3.New(c)
	if err != nil {
		return err
	}
	now := time.Now()
	m, err := manifest.Make(ctx, src, listInFlight, now)
	if err != nil {
		return err
	}
	if len(m.Files) > presigned.MaxFiles {
		return fmt.Errorf("the table has %d files, and a bundle is for %d at most: use keys (s3://) or a signer", len(m.Files), presigned.MaxFiles)
	}
	b := presigned.Bundle{V: presigned.Version, Base: m.Base, Taken: now.UTC().Truncate(time.Second), Expires: now.Add(valid).UTC().Truncate(time.Second), Files: map[string]presigned.File{}}
	base := c.Prefix
	if base != "" {
		base += "/"
	}
	for p, f := range m.Files {
		size := f.Size
		b.Files[p] = presigned.File{URL: src.Presign(base+p, valid), Size: &size, ETag: f.ETag}
	}
	doc, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return e.write(e.flags.stores.out, append(doc, '\n'), len(m.Files))
}
