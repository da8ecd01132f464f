package filegroup

import "hudiscope/core/logfile"

// AsOf returns the view without what came after an instant (requested time): slices and files of later instants,
// and later replacements and plans. Groups and partitions that have nothing left are left out, too. As time
// travel does, it goes by requested times: a write that was requested by then and completed later counts. Files
// that have been removed since are not in the listing and not in the view; and below version 8, where a log file
// tells only the instant of its slice, the file is as long as it is now.
func (v *View) AsOf(instant string) *View {
	out := *v
	out.Partitions, out.groups, out.byPartition = nil, map[GroupID]*Group{}, map[string]*Partition{}
	out.Latest = ""
	commits := v.Timeline.Commits().Completed()
	for i := len(commits.Instants) - 1; i >= 0; i-- {
		if t := commits.Instants[i].Requested; t <= instant {
			out.Latest = t
			break
		}
	}
	for _, p := range v.Partitions {
		q := &Partition{Path: p.Path}
		for _, g := range p.Groups {
			h := v.groupAsOf(g, instant)
			if h == nil {
				continue
			}
			q.Groups = append(q.Groups, h)
			out.groups[h.GroupID] = h
			for _, s := range h.Slices {
				q.Bytes += s.Bytes()
			}
		}
		for _, o := range p.Other {
			if otherInstant(o.Name) <= instant {
				q.Other = append(q.Other, o)
				q.Bytes += max(o.Size, 0)
			}
		}
		if len(q.Groups)+len(q.Other) == 0 {
			continue
		}
		out.Partitions = append(out.Partitions, q)
		out.byPartition[q.Path] = q
	}
	return &out
}

// groupAsOf is a group without what is later than an instant, nil when nothing is left.
func (v *View) groupAsOf(g *Group, instant string) *Group {
	h := &Group{GroupID: g.GroupID}
	for _, s := range g.Slices {
		if s.BaseInstant > instant {
			continue
		}
		c := *s
		if c.Base != nil && c.Base.Instant > instant {
			c.Base = nil
		}
		if v.Version >= 8 {
			c.Logs = nil
			for _, l := range s.Logs {
				if l.Instant <= instant {
					c.Logs = append(c.Logs, l)
				}
			}
		}
		if c.Empty() && s.BaseInstant != g.PendingCompaction {
			continue
		}
		h.Slices = append(h.Slices, &c)
	}
	if len(h.Slices) == 0 {
		return nil
	}
	by := func(t string) string {
		if t > instant {
			return ""
		}
		return t
	}
	h.ReplacedBy, h.PendingCompaction = by(g.ReplacedBy), by(g.PendingCompaction)
	h.PendingLogCompaction, h.PendingClustering = by(g.PendingLogCompaction), by(g.PendingClustering)
	return h
}

// otherInstant is the instant in the name of a file, "" when it tells none.
func otherInstant(name string) string {
	if n, ok := ParseBaseName(name); ok {
		return n.Instant
	}
	if n, ok := logfile.ParseName(name); ok {
		return n.Instant
	}
	return ""
}
