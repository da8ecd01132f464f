package objectlist_test

import (
	"testing"

	"hudiscope/core/storage"
	"hudiscope/fsadapter/azure"
	"hudiscope/fsadapter/gcs"
	"hudiscope/fsadapter/objectlist"
	"hudiscope/fsadapter/s3"
)

// FuzzPages: a page of a listing, as every kind of store writes it, is taken with entries that have a name and a size that
// is known or not, or refused in few words. The XML holds no more elements than it has brackets.
func FuzzPages(f *testing.F) {
	for _, s := range []string{
		`<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated><NextContinuationToken>n==</NextContinuationToken><Contents><Key>t/a%2Bb+c</Key><Size>12</Size><ETag>&quot;e&quot;</ETag><LastModified>2026-03-07T16:26:11.000Z</LastModified></Contents><CommonPrefixes><Prefix>t/d%2F</Prefix></CommonPrefixes></ListBucketResult>`,
		`<ListBucketResult><Contents><Key>a&amp;b</Key></Contents></ListBucketResult>`,
		"\ufeff" + `<EnumerationResults ContainerName='c'><Blobs><Blob><Name>a</Name><Properties><Content-Length> 7 </Content-Length><Etag>0x8</Etag><Last-Modified>Sat, 07 Mar 2026 16:26:11 GMT</Last-Modified><ResourceType>directory</ResourceType></Properties></Blob><BlobPrefix><Name Encoded="true">d%ef%bf%be/</Name></BlobPrefix></Blobs><NextMarker>m</NextMarker></EnumerationResults>`,
		`{"kind":"storage#objects","items":[{"name":"t/a","size":"12","etag":"CJ==","updated":"2026-03-07T16:26:11.123Z"},{"name":"t/b","size":"-1"}],"prefixes":["t/d/"],"nextPageToken":"n"}`,
		`<r><![CDATA[<&]]><!-- c --><a b='1"'/>&#x1F600;&#0;</r>`, `{"items":[{}]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if e, err := objectlist.ParseXML(b); err == nil {
			open := 0
			for _, c := range b {
				if c == '<' {
					open++
				}
			}
			if n := elements(e); n > open {
				t.Errorf("%d elements of %d brackets", n, open)
			}
		} else if len(err.Error()) > 400 {
			t.Errorf("a long error: %v", err)
		}
		for kind, parse := range map[string]func([]byte) (objectlist.Page, error){"s3": s3.ParsePage, "azure": azure.ParsePage, "gcs": gcs.ParsePage} {
			p, err := parse(b)
			if err != nil {
				if len(err.Error()) > 400 {
					t.Errorf("%s: a long error: %v", kind, err)
				}
				continue
			}
			for _, k := range p.Keys {
				if k.Name == "" || k.Size < storage.SizeUnknown {
					t.Errorf("%s: %+v", kind, k)
				}
			}
			if len(p.Keys)+len(p.Prefixes) > len(b) {
				t.Errorf("%s: %d entries of %d bytes", kind, len(p.Keys)+len(p.Prefixes), len(b))
			}
		}
	})
}

func elements(e *objectlist.Element) int {
	n := 1
	for _, c := range e.Children {
		n += elements(c)
	}
	return n
}
