package model

import (
	"hudiscope/core/api"
	"hudiscope/web/text"
)

// BlockStatus is where a block stands at one step of a scan.
type BlockStatus int

// The statuses, in the order in which a block goes through them.
const (
	Ahead      BlockStatus = iota // not reached yet
	Seen                          // read; what becomes of it comes next
	Queued                        // waits in the queue
	Skipped                       // passed over
	RolledBack                    // a rollback command took it out
	Merged                        // taken from the queue for merging
)

var statusClasses = [...]string{"ahead", "seen", "queued", "skipped", "removed", "merged"}
var statusWords = [...]string{text.Key("not reached yet"), text.Key("just read"), text.Key("in the queue"), text.Key("skipped"), text.Key("rolled back"), text.Key("merged")}

// Class is the status as a class of the drawing; String says it.
func (s BlockStatus) Class() string { return statusClasses[s] }

// String says the status in words.
func (s BlockStatus) String() string { return text.T(statusWords[s]) }

// MergedKey is a key in the map of merged records at one step.
type MergedKey struct {
	Key string
	// Version is the one that stands in the map, nil once the key was taken out.
	Version *api.Version
	// Winner is the outcome of the last merge of this key, at step At.
	Winner string
	At     int
	// Base is true once the map's record has met the row of the base file.
	Base bool
	// Versions counts the versions that came so far.
	Versions int
}

// Frame is a scan at one step: what a drawing of it needs.
type Frame struct {
	// Status of each block, by file and block.
	Status [][]BlockStatus
	// Why holds the reason of skipped and removed blocks.
	Why map[api.BlockRef]string
	// Keys are the merged records, in the order in which they first came.
	Keys []MergedKey
	// Stopped is true once the scan stopped before the end.
	Stopped bool
}

// FrameAt works out where every block and key stands after a step (an index of scan.Steps).
func FrameAt(scan *api.Scan, at int) Frame {
	f := Frame{Why: map[api.BlockRef]string{}}
	for _, file := range scan.Blocks.Files {
		f.Status = append(f.Status, make([]BlockStatus, len(file.Blocks)))
	}
	set := func(r api.BlockRef, s BlockStatus, why string) {
		if r.File < 0 || r.File >= len(f.Status) || r.Block < 0 || r.Block >= len(f.Status[r.File]) {
			return
		}
		f.Status[r.File][r.Block] = s
		if why != "" {
			f.Why[r] = why
		}
	}
	index := map[string]int{}
	for i := 0; i <= at && i < len(scan.Steps); i++ {
		s := &scan.Steps[i]
		switch s.Kind {
		case "read":
			set(s.Block, Seen, "")
		case "push":
			set(s.Block, Queued, "")
		case "skip":
			set(s.Block, Skipped, s.Why)
		case "rollback":
			for _, r := range s.Removed {
				set(r, RolledBack, s.Why)
			}
		case "pop":
			set(s.Block, Merged, "")
		case "stop":
			f.Stopped = true
		case "record":
			r := s.Record
			if r == nil {
				continue
			}
			k, ok := index[r.Key]
			if !ok {
				k = len(f.Keys)
				index[r.Key] = k
				f.Keys = append(f.Keys, MergedKey{Key: r.Key})
			}
			m := &f.Keys[k]
			m.Winner, m.At = r.Winner, i
			m.Base = r.Stage == "base"
			if !m.Base {
				m.Versions++
			}
			switch r.Winner {
			case "old":
				if r.Old != nil {
					m.Version = r.Old
				}
			case "removed":
				m.Version = nil
			default:
				m.Version = r.New
			}
		}
	}
	return f
}

// StepOf is the first step in which a block appears, -1 if none does.
func StepOf(scan *api.Scan, ref api.BlockRef) int {
	for i := range scan.Steps {
		if scan.Steps[i].Block == ref {
			return i
		}
	}
	return -1
}

// StepTitle says what a step is.
func StepTitle(s *api.ScanStep) string {
	switch s.Kind {
	case "read":
		return text.T("Read a block")
	case "instant switch":
		return text.T("Another instant begins")
	case "push":
		return text.T("Put it into the queue")
	case "skip":
		return text.T("Skip the block")
	case "rollback":
		switch len(s.Removed) {
		case 0:
			return text.T("Roll back: nothing to take out")
		case 1:
			return text.T("Roll back one block")
		}
		return text.F("Roll back %s", Plural(int64(len(s.Removed)), "block"))
	case "stop":
		return text.T("Stop")
	case "pop":
		return text.T("Take the oldest block out and merge it")
	case "record":
		if s.Record != nil && s.Record.Stage == "base" {
			return text.T("Merge with the base file")
		}
		return text.T("Merge a record")
	}
	return s.Kind
}
