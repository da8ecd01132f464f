package filegroup

import (
	"testing"

	"hudiscope/core/config"
	"hudiscope/core/tabletest"
	"hudiscope/core/timeline"
)

// TestUnnamedBy: what a log file is that no instant names, by the instants of its blocks.
func TestUnnamedBy(t *testing.T) {
	src := tabletest.New("table")
	src.Put(".hoodie/hoodie.properties", []byte("hoodie.table.name=t\nhoodie.table.type=MERGE_ON_READ\nhoodie.table.version=6\nhoodie.timeline.layout.version=1\n"))
	for _, name := range []string{"20260101000000000.deltacommit", "20260103000000000.deltacommit.inflight", "20260103000000000.deltacommit.requested"} {
		src.Put(".hoodie/"+name, []byte("{}"))
	}
	c, err := config.Load(t.Context(), src, "")
	if err != nil {
		t.Fatal(err)
	}
	tl, err := timeline.Load(t.Context(), src, c)
	if err != nil {
		t.Fatal(err)
	}
	v := &View{Timeline: tl, Version: 6}
	v.done = tl.Write().Completed()
	undone := map[string]string{"20260102000000000": "20260104000000000"}
	for _, c := range []struct {
		blocks []string
		state  FileState
		why    string
	}{
		{nil, FileOrphan, NoInstantNames},
		{[]string{"20260102000000000"}, FileCommitted, "its blocks are of 20260102000000000, which the rollback 20260104000000000 undid"},
		{[]string{"20260103000000000"}, FileUncommitted, "its blocks are of the deltacommit 20260103000000000, which is INFLIGHT"},
		{[]string{"20260101000000000"}, FileOrphan, NoInstantNames + "; blocks of it are of 20260101000000000, which is completed, so they are read"},
		{[]string{"20260105000000000"}, FileOrphan, NoInstantNames + "; its blocks are of 20260105000000000, which the timeline does not have"},
		{[]string{"20260102000000000", "20260105000000000"}, FileOrphan, NoInstantNames + "; its blocks are of 20260102000000000, which the timeline does not have"},
	} {
		if got := v.unnamedBy(c.blocks, undone); got.state != c.state || got.why != c.why {
			t.Errorf("%v: %q %q, want %q %q", c.blocks, got.state, got.why, c.state, c.why)
		}
	}
}
