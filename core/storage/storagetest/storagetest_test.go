package storagetest

import "testing"

func TestMem(t *testing.T) { Run(t, Mem(Files()), Files()) }

func TestProbe(t *testing.T) {
	p := &Probe{Src: Mem(Files()), HideSize: true}
	Run(t, p, Files())
	if len(p.Reads()) == 0 || len(p.Lists()) == 0 || len(p.Opens()) == 0 || p.StillOpen() != 0 {
		t.Errorf("%d reads, %d lists, %d opens, %d still open", len(p.Reads()), len(p.Lists()), len(p.Opens()), p.StillOpen())
	}
}
