package handoff

import (
	"net/url"
	"path"
	"regexp"
	"strings"
)

// Address is where an engine finds a table.
type Address struct {
	// Spark is the address for engines on the JVM, Rust that for hudi-rs.
	Spark, Rust string
	// Note says what to put in its place where only a place holder can be given.
	Note string
}

// placeholder stands for an address that engines do not have.
const placeholder = "/path/to/"

var s3Host = regexp.MustCompile(`^(?:(.+)\.)?s3(?:[.-](?:dualstack\.)?[a-z0-9-]+)?\.amazonaws\.com(?:\.cn)?$`)

// AddressOf makes the address that engines know from the location that the table was opened by. What
// gives access (signatures, keys, user names) is left out. local tells that locations without a scheme are paths
// of the caller's own machine; else they are names that a server or a page gave its tables.
func AddressOf(location, table string, local bool) Address {
	unknown := func(note string) Address {
		p := placeholder + viewName(table)
		return Address{Spark: p, Rust: p, Note: note}
	}
	scheme, rest, ok := strings.Cut(location, "://")
	scheme = strings.ToLower(scheme)
	if !ok {
		switch {
		case strings.HasPrefix(location, "sample:"):
			return unknown("The table is a sample inside this page. Put the path of an unpacked copy in the place of " + placeholder + "….")
		case strings.HasPrefix(location, "drop:"):
			return unknown("The browser does not tell where dropped files lie. Put the table's path in the place of " + placeholder + "….")
		case strings.EqualFold(path.Ext(location), ".zip"):
			return unknown("Engines do not read tables in .zip files. Unpack it, and put the path of the table in the place of " + placeholder + "….")
		case strings.EqualFold(path.Ext(location), ".json"):
			return unknown("The table was opened by a list of URLs. Put its own address in the place of " + placeholder + "….")
		}
		if !local {
			return unknown("The table was opened by the name that this server or page has for it. Put its path or address in the place of " + placeholder + "….")
		}
		return Address{Spark: location, Rust: location}
	}
	rest, _, _ = strings.Cut(rest, "?")
	rest, _, _ = strings.Cut(rest, "#")
	rest = strings.TrimRight(rest, "/")
	switch scheme {
	case "file":
		return Address{Spark: "file://" + rest, Rust: "file://" + rest}
	case "s3", "s3a", "s3n":
		return Address{Spark: "s3a://" + rest, Rust: "s3://" + rest}
	case "gs", "gcs":
		return Address{Spark: "gs://" + rest, Rust: "gs://" + rest}
	case "abfs", "abfss", "wasb", "wasbs":
		return Address{Spark: scheme + "://" + rest, Rust: scheme + "://" + rest}
	case "http", "https":
	default:
		return unknown("The table was opened by an address that engines do not know. Put the one of its storage in the place of " + placeholder + "….")
	}
	u, err := url.Parse(scheme + "://" + rest)
	if err == nil && path.Ext(u.Path) != ".zip" && path.Ext(u.Path) != ".json" {
		host, key := strings.ToLower(u.Hostname()), strings.Trim(u.Path, "/")
		bucket := ""
		if m := s3Host.FindStringSubmatch(host); m != nil {
			if bucket = m[1]; bucket == "" {
				bucket, key, _ = strings.Cut(key, "/")
			}
			if bucket != "" {
				return Address{Spark: "s3a://" + bucket + "/" + key, Rust: "s3://" + bucket + "/" + key}
			}
		}
		if b, ok := strings.CutSuffix(host, ".storage.googleapis.com"); ok || host == "storage.googleapis.com" {
			if bucket = b; !ok {
				bucket, key, _ = strings.Cut(key, "/")
			}
			if bucket != "" {
				return Address{Spark: "gs://" + bucket + "/" + key, Rust: "gs://" + bucket + "/" + key}
			}
		}
	}
	return unknown("Engines do not read tables over HTTP. Put the address in the storage behind the web server, or that of a copy, in the place of " + placeholder + "….")
}
