package model

import (
	"encoding/json"
	"encoding/xml"
	"slices"
	"strings"
	"testing"

	"hudiscope/core/api"
)

func TestStoreRoundTrip(t *testing.T) {
	for _, loc := range []string{
		"s3://bucket/lake/trips", "s3://bucket", "s3://b/p?endpoint=http://127.0.0.1:9000&region=eu-west-1&style=path&requester_pays=true",
		"gs://bucket/lake", "gs://b/p?endpoint=http://localhost:4443&project=p1",
		"abfss://c@acc.dfs.core.windows.net/lake/t", "abfss://c@devstoreaccount1.dfs.core.windows.net/t?endpoint=http://127.0.0.1:10000/devstoreaccount1",
		"signer+https://h/path#lake/t", "signer+http://h:8/p#",
	} {
		if got := ParseStore(loc).Location(); got != loc {
			t.Errorf("%s comes back as %s", loc, got)
		}
		if clean, removed := StripCredentials(loc); clean != loc || len(removed) != 0 {
			t.Errorf("%s is cleaned to %s (%q)", loc, clean, removed)
		}
		if st := ParseFragment(State{Table: loc, View: Timeline}.Fragment()); st.Table != loc {
			t.Errorf("%s is %s in a link", loc, st.Table)
		}
	}
	if got := ParseStore("https://acc.blob.core.windows.net/cont/a%20b/c?sig=SECRET").Location(); got != "abfss://cont@acc.dfs.core.windows.net/a b/c" {
		t.Error(got)
	}
	if got := (Store{Kind: Azure, Bucket: "c", Account: "acc"}).Location(); got != "abfss://c@acc.dfs.core.windows.net" {
		t.Error(got)
	}
	for _, s := range []Store{{}, {Kind: S3}, {Kind: GCS}, {Kind: Azure, Bucket: "c"}, {Kind: Signer, Endpoint: "ftp://x"}, {Kind: Signer}} {
		if s.Location() != "" {
			t.Errorf("%+v is at %s", s, s.Location())
		}
	}
}

func TestStoreAddressesKeepNoSecrets(t *testing.T) {
	for in, want := range map[string]string{
		"s3://b/p?region=eu-west-1&X-Amz-Signature=SECRET":                  "s3://b/p?region=eu-west-1",
		"s3://AKIA:SECRET/SECRET@b/p":                                       "s3://b/p",
		"s3://AKIA:SECRET@b/p":                                              "s3://b/p",
		"s3://b/p?endpoint=https://u:SECRET@h":                              "s3://b/p",
		"gs://b/p?access_token=SECRET":                                      "gs://b/p",
		"abfss://c@acc.dfs.core.windows.net/p?sv=1&sig=SECRET":              "abfss://c@acc.dfs.core.windows.net/p",
		"https://acc.blob.core.windows.net/c/p?sp=rl&sig=SECRET":            "https://acc.blob.core.windows.net/c/p",
		"https://acc.blob.core.windows.net/c/p?endpoint=SECRET":             "https://acc.blob.core.windows.net/c/p",
		"signer+https://h/p?token=SECRET#lake/t":                            "signer+https://h/p#lake/t",
		"signer+https://u:SECRET@h/p#lake/t":                                "signer+https://h/p#lake/t",
		"https://acc.blob.core.windows.net/c/p?sp=rl&SECRET":                "https://acc.blob.core.windows.net/c/p",
		"abfss://c:SECRET@acc.dfs.core.windows.net/p":                       "abfss://acc.dfs.core.windows.net/p",
		"https://x:SECRET@acc.blob.core.windows.net/c/p":                    "https://acc.blob.core.windows.net/c/p",
		"s3://b/p?style=path&style=path%40SECRET&requester_pays=true&x=%zz": "s3://b/p?style=path&requester_pays=true",
	} {
		clean, removed := StripCredentials(in)
		if clean != want || len(removed) == 0 || strings.Contains(strings.Join(removed, " "), "SECRET") {
			t.Errorf("%s: %s (%q), want %s", in, clean, removed, want)
		}
		if strings.Contains(Probe(clean), "SECRET") {
			t.Error("a secret in the probe of", in)
		}
	}
}

func TestProbe(t *testing.T) {
	for in, want := range map[string]string{
		"s3://b/p": "https://b.s3.amazonaws.com/", "s3://b.c/p?region=eu-west-1": "https://s3.eu-west-1.amazonaws.com/b.c",
		"s3://b/p?endpoint=http://h:9000": "http://h:9000/b", "s3://b/p?endpoint=h&style=virtual": "https://b.h/",
		"gs://b/p":                           "https://storage.googleapis.com/storage/v1/b/b/o?maxResults=1",
		"abfss://c@a.dfs.core.windows.net/p": "https://a.blob.core.windows.net/c?restype=container&comp=list&maxresults=1",
		"signer+https://h/p#x":               "https://h/p", "https://h/t/?x=1": "https://h/t/", "drop:1": "", "sample:x": "", "/tables/x": "",
	} {
		if got := Probe(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestRulesArePasteable(t *testing.T) {
	const origin = "https://page.example.org"
	for _, loc := range []string{"s3://b/p", "gs://b/p", "abfss://c@a.dfs.core.windows.net/p", "signer+https://h/p#x", "https://h/t/"} {
		rules := Rules(loc, origin)
		if len(rules) == 0 {
			t.Fatal(loc)
		}
		for _, r := range rules {
			if !strings.Contains(r.Text, origin) && r.Name != "This machine" {
				t.Errorf("%s, %s: without the origin", loc, r.Name)
			}
			switch c := r.Text[0]; {
			case c == '{' || c == '[':
				if !json.Valid([]byte(r.Text)) {
					t.Errorf("%s, %s: no JSON:\n%s", loc, r.Name, r.Text)
				}
			case c == '<':
				if err := xml.Unmarshal([]byte(r.Text), new(struct{ XMLName xml.Name })); err != nil {
					t.Errorf("%s, %s: %v", loc, r.Name, err)
				}
			}
		}
	}
	if !slices.ContainsFunc(Rules("s3://b/p?endpoint=http://h:9", origin), func(r Rule) bool { return strings.Contains(r.How, "--endpoint-url http://h:9") }) {
		t.Error("the endpoint is not in the command")
	}
}

func TestWithoutUser(t *testing.T) {
	for in, want := range map[string]string{
		"http://user:SECRET@host/t/":            "http://host/t/",
		"HTTPS://u@host:8443/t?token=a@b":       "HTTPS://host:8443/t?token=a@b",
		"https://u:p@x@host":                    "https://host",
		"https://u:SECRET@[::1]:80?x":           "https://[::1]:80?x",
		"https://u:p@a.blob.core.windows.net/c": "https://a.blob.core.windows.net/c",
	} {
		if got, had := WithoutUser(in); got != want || !had {
			t.Errorf("%s: %s, %v", in, got, had)
		}
	}
	for _, in := range []string{"https://host/a@b", "https://host?u:p@h", "https://host#@", "s3://b/p", "abfss://c@a.dfs.core.windows.net/p", "/tables/a@b", "drop:1", ""} {
		if got, had := WithoutUser(in); got != in || had {
			t.Errorf("%s: %s, %v", in, got, had)
		}
	}
}

func TestSentRange(t *testing.T) {
	sent := func(from, to, bytes int64, status int) api.NetworkRequestSent {
		return api.NetworkRequestSent{From: from, To: to, Bytes: bytes, Status: status}
	}
	running, broken := sent(0, 8307, 100, 206), sent(0, 8307, 100, 206)
	running.Running, broken.Failed = true, "broke off"
	for _, c := range []struct {
		q          api.NetworkRequestSent
		got, asked string
	}{
		{sent(0, 8307, 8307, 206), "0–8,306", "0–8,307"}, // the file has 8,307 bytes
		{sent(0, 8306, 8307, 206), "0–8,306", "0–8,306"},
		{sent(4096, 9999, 1, 206), "4,096–4,096", "4,096–9,999"},
		{sent(0, 99, 0, 416), "0–99", "0–99"},
		{sent(0, 99, 20, 404), "0–99", "0–99"},
		{sent(0, 99, 5000, 200), "0–99", "0–99"},
		{sent(0, -1, 500, 200), "", ""},
		{running, "0–8,307", "0–8,307"}, {broken, "0–8,307", "0–8,307"},
	} {
		if got, asked := SentRange(c.q); got != c.got || asked != c.asked {
			t.Errorf("%+v: %s of %s", c.q, got, asked)
		}
	}
}
