package logscan

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hudiscope/core/corrupt"
	"hudiscope/core/logfile"
)

// Mode is whose rules a scan follows.
type Mode uint8

// The modes. The zero value is the right answer for every table: the rules of 1.x.
const (
	Scan1x         Mode = iota // 1.x: later blocks are passed over, commands always count
	ScanV2                     // 0.13 to 0.15 with the optimized log scan: the scan stops at a later block
	ScanV1                     // 0.13 to 0.15: one pass; a rollback removes blocks anywhere before it
	ScanV1Until012             // up to 0.12: one pass; a rollback removes blocks from the end of the queue only
)

// String names the rules by release.
func (m Mode) String() string {
	switch m {
	case Scan1x:
		return "1.x"
	case ScanV2:
		return "0.13 to 0.15, optimized scan"
	case ScanV1:
		return "0.13 to 0.15"
	case ScanV1Until012:
		return "up to 0.12"
	}
	return fmt.Sprintf("mode(%d)", m)
}

// Verdict is what the timeline says about an instant.
type Verdict uint8

// The verdicts. A block is merged when its instant is Completed or BeforeStart.
const (
	UnknownInstant Verdict = iota // not on the timeline
	Completed                     // completed, in the active timeline or archived
	Pending                       // requested or inflight
	BeforeStart                   // before the first instant of the active timeline: archived, so completed
)

// File is one log file of a slice. Files may be given in any order.
type File struct {
	Name   logfile.Name
	Reader *logfile.Reader
}

// Options say how to scan.
type Options struct {
	Mode Mode
	// LatestInstant is the upper bound of the read; "" means none.
	LatestInstant string
	// CheckCommitted asks Committed about the instant of each block. Hudi 1.x does so for
	// table versions below 8; from 8 on the file view has left out the files of uncommitted
	// instants already. The modes before 1.x always check.
	CheckCommitted bool
	// Committed tells about an instant; nil means that all are completed.
	Committed func(instant string) Verdict
	// Range limits data and delete blocks to instants of an incremental read; nil means none.
	Range *InstantRange
	// Trace receives every step; nil costs nothing.
	Trace Recorder
}

// Ref is a block of a file; File is the index in the files given to Scan.
type Ref struct {
	File  int
	Block *logfile.Block
}

// Outcome is what became of a block.
type Outcome string

// The outcomes.
const (
	Merged       Outcome = "merged"
	Command      Outcome = "command"
	RolledBack   Outcome = "rolled back"
	Corrupt      Outcome = "corrupt"
	Damaged      Outcome = "damaged" // whole in size, broken inside; Hudi fails on it
	NotCommitted Outcome = "not committed"
	Later        Outcome = "after the query instant"
	OutOfRange   Outcome = "out of range"
	Compacted    Outcome = "compacted" // replaced by a log compaction
	Unused       Outcome = "unused"    // a log compaction none of whose originals is valid
	NotReached   Outcome = "not reached"
)

// Fate is what became of one block and why.
type Fate struct {
	Ref
	Outcome Outcome
	// Why is one sentence.
	Why string
	// By is the instant that decided (of the rollback, the log compaction), or "".
	By string
	// ByFile and ByBlock are the command block of a rollback: index in the files given to
	// Scan, and in that file; -1 otherwise.
	ByFile, ByBlock int
}

// Counters are Hudi's counters of a scan (spec log-format.md section 12.4).
type Counters struct {
	// LogFiles is the number of files from which a block was read.
	LogFiles int
	// LogBlocks counts every block read, also the one that stops a scan.
	LogBlocks int
	// Rollbacks counts rollback commands, in ScanV1 the blocks they removed.
	Rollbacks     int
	CorruptBlocks int
	// ValidBlocks is the number of blocks to merge.
	ValidBlocks int
	// ContentBytes is the sum of the content sizes of all blocks read.
	ContentBytes int64
}

// Result is the answer of a scan.
type Result struct {
	// Blocks to merge, the oldest first.
	Blocks []Ref
	// Fates of all blocks, file by file in the order the files are merged.
	Fates []Fate
	// Files is that order: indexes of the files given to Scan, change data capture logs
	// left out.
	Files []int
	// ValidInstants are the instants of Blocks, in the same order, each once.
	ValidInstants []string
	// Damaged are the blocks on which Hudi itself would fail: broken insides, unknown
	// commands, no instant, change data capture blocks. They are not in Blocks; a caller that
	// shows rows must say so.
	Damaged  []Ref
	Counters Counters
}

// Sort returns the indexes of files in merge order, change data capture logs left out.
func Sort(files []File) []int {
	out := make([]int, 0, len(files))
	for i, f := range files {
		if !f.Name.CDC {
			out = append(out, i)
		}
	}
	slices.SortStableFunc(out, func(a, b int) int { return logfile.Compare(files[a].Name, files[b].Name) })
	return out
}

// Scan reads the block headers of the log files of one slice and decides about each block.
// On an error (storage, cancelled, a file that is no log file) the result holds what was
// decided until then, and must not be used for rows.
func Scan(ctx context.Context, files []File, o Options) (*Result, error) {
	s := scan{files: files, o: o, res: &Result{Files: Sort(files)}, live: map[string]*group{}, uncommitted: map[string][]int{}}
	err := s.read(ctx)
	if s.twoPass() {
		s.finishTwoPass()
	} else {
		s.finishOnePass()
	}
	s.res.Counters.ValidBlocks = len(s.res.Blocks)
	return s.res, err
}

type scan struct {
	files []File
	o     Options
	res   *Result

	// queue holds indexes of fates in the order read (one pass), the front of Hudi's deque
	// last; dropped ones stay in it, with another outcome.
	queue []int
	// groups are the instants by first appearance; live is the one an instant's blocks join
	// now: after a rollback it starts afresh. Rolled back groups stay, with no blocks.
	groups []*group
	live   map[string]*group
	// uncommitted are the blocks of instants that are not completed, by instant, for rollbacks of them.
	uncommitted map[string][]int
	// corrupt are the corrupt blocks in the queue (one pass).
	corrupt []int
	queued  int    // blocks in the queue, dropped ones not counted
	last    string // instant of the block before
}

// group is the blocks of one instant, as indexes of fates.
type group struct {
	instant string
	blocks  []int
}

// twoPass reports whether blocks are gathered by instant.
func (s *scan) twoPass() bool { return s.o.Mode == Scan1x || s.o.Mode == ScanV2 }

func (s *scan) read(ctx context.Context) error {
	stopped := false
	for _, i := range s.res.Files {
		seen := false
		for b, err := range s.files[i].Reader.Blocks(ctx) {
			if err != nil {
				if stopped && ctx.Err() == nil {
					break // Hudi never reads that far
				}
				return corrupt.InFile(err, s.files[i].Reader.Path())
			}
			ref := Ref{File: i, Block: b}
			if stopped {
				s.fate(ref, NotReached, fmt.Sprintf("Hudi %s stops the scan at an earlier block that is later than the query instant.", s.o.Mode), s.o.LatestInstant)
				continue
			}
			c := &s.res.Counters
			if !seen {
				seen = true
				c.LogFiles++
			}
			c.LogBlocks++
			c.ContentBytes += b.ContentSize
			stopped = s.block(ref)
		}
	}
	return nil
}

func (s *scan) fate(ref Ref, out Outcome, why, by string) int {
	s.res.Fates = append(s.res.Fates, Fate{Ref: ref, Outcome: out, Why: why, By: by, ByFile: -1, ByBlock: -1})
	if s.o.Trace != nil && out != Merged && out != Command && out != NotReached {
		s.step(Skip, ref, why)
	}
	return len(s.res.Fates) - 1
}

func (s *scan) damaged(ref Ref, why string) {
	s.fate(ref, Damaged, why, "")
	s.res.Damaged = append(s.res.Damaged, ref)
}

// block decides about one block as it is read; true stops the scan.
func (s *scan) block(ref Ref) (stop bool) {
	b := ref.Block
	instant := b.Instant()
	if s.o.Trace != nil {
		if instant != "" && instant != s.last {
			s.step(InstantSwitch, ref, fmt.Sprintf("From instant %s to %s.", orNone(s.last), instant))
		}
		s.step(Read, ref, fmt.Sprintf("%s of instant %s.", b.Type, orNone(instant)))
	}
	if instant != "" {
		s.last = instant
	}
	if b.Type == logfile.CorruptBlock {
		s.res.Counters.CorruptBlocks += max(1, b.Regions)
		why := "Its bytes can't be trusted."
		if b.Corruption != nil {
			why = b.Corruption.Reason
		}
		i := s.fate(ref, Corrupt, why, "")
		if !s.twoPass() {
			s.push(i)
		}
		return false
	}
	switch {
	case b.Damage != nil:
		s.damaged(ref, "The block is broken inside: "+b.Damage.Error()+".")
		return false
	case instant == "":
		s.damaged(ref, "The block's header has no INSTANT_TIME, so that nothing says whether it is committed.")
		return false
	}
	isCommand := b.Type == logfile.CommandBlock
	if latest := s.o.LatestInstant; latest != "" && instant > latest {
		if s.o.Mode != Scan1x {
			why := fmt.Sprintf("Its instant %s is later than the query instant %s; Hudi %s stops the scan of the slice here.", instant, latest, s.o.Mode)
			if isCommand {
				why = fmt.Sprintf("The rollback of %s was written by instant %s, later than the query instant %s; Hudi %s stops the scan of the slice here.", b.Target(), instant, latest, s.o.Mode)
			}
			s.fate(ref, Later, why, instant)
			s.step(Stop, ref, why)
			return true
		}
		if !isCommand {
			s.fate(ref, Later, fmt.Sprintf("Its instant %s is later than the query instant %s.", instant, latest), instant)
			return false
		}
	}
	switch {
	case b.Type == logfile.CDCDataBlock:
		s.damaged(ref, "A change data capture block in a log file of data: Hudi fails on it.")
		return false
	case isCommand && !b.IsRollback():
		kind, _ := b.Header.Get(logfile.CommandBlockType)
		s.damaged(ref, fmt.Sprintf("A command of type %q, which no release knows.", kind))
		return false
	case isCommand:
		s.rollback(ref)
		return false
	}
	if s.o.Committed != nil && (s.o.CheckCommitted || s.o.Mode != Scan1x) {
		switch s.o.Committed(instant) {
		case Pending:
			s.notCommitted(ref, instant, "Its instant %s is on the timeline but not completed.")
			return false
		case UnknownInstant:
			s.notCommitted(ref, instant, "Its instant %s is not on the timeline: it was never completed, or was rolled back.")
			return false
		}
	}
	if s.o.Range != nil && !s.o.Range.Contains(instant) {
		s.fate(ref, OutOfRange, fmt.Sprintf("Its instant %s is not in the range of the query, %s.", instant, s.o.Range), instant)
		return false
	}
	i := s.fate(ref, Merged, "", "")
	g := s.live[instant]
	if g == nil {
		g = &group{instant: instant}
		s.live[instant] = g
		s.groups = append(s.groups, g)
	}
	g.blocks = append(g.blocks, i)
	s.push(i)
	return false
}

func (s *scan) notCommitted(ref Ref, instant, why string) {
	s.uncommitted[instant] = append(s.uncommitted[instant], s.fate(ref, NotCommitted, fmt.Sprintf(why, instant), instant))
}

func (s *scan) push(i int) {
	if !s.twoPass() {
		s.queue = append(s.queue, i)
		if s.res.Fates[i].Outcome == Corrupt {
			s.corrupt = append(s.corrupt, i)
		}
	}
	s.queued++
	s.step(Push, s.res.Fates[i].Ref, "Waits to be merged.")
}

// rollback applies a rollback command to the blocks read before it.
func (s *scan) rollback(ref Ref) {
	target := ref.Block.Target()
	instant := ref.Block.Instant()
	// What is said of every block that a command removes must not be as long as the command's header may be.
	of, by := clip(target), clip(instant)
	var removed []int
	blocks := 0 // as Hudi counts them
	remove := func(i int) {
		removed = append(removed, i)
		f := &s.res.Fates[i]
		blocks += max(1, f.Block.Regions)
		f.By, f.ByFile, f.ByBlock = instant, ref.File, ref.Block.Index
		if f.Outcome == Corrupt {
			f.Why += fmt.Sprintf(" The rollback of %s also dropped it.", of)
			return
		}
		f.Outcome = RolledBack
		f.Why = fmt.Sprintf("Rolled back by the command block %d of %s, instant %s.", ref.Block.Index, s.files[ref.File].Name, by)
	}
	switch s.o.Mode {
	case ScanV1Until012:
		s.res.Counters.Rollbacks++
		for n := len(s.queue) - 1; n >= 0; n-- {
			i := s.queue[n]
			f := &s.res.Fates[i]
			if f.Outcome != Corrupt && f.Block.Instant() != target {
				break
			}
			if f.Outcome != Corrupt {
				g := s.live[target]
				g.blocks = g.blocks[:len(g.blocks)-1]
			}
			remove(i)
			s.queue = s.queue[:n]
		}
	default:
		if s.o.Mode == ScanV1 {
			for _, i := range s.corrupt {
				remove(i)
			}
			s.corrupt = nil
		}
		if g := s.live[target]; g != nil {
			for _, i := range g.blocks {
				remove(i)
			}
			g.blocks = nil
			delete(s.live, target)
		}
		if s.o.Mode == ScanV1 {
			s.res.Counters.Rollbacks += blocks
		} else {
			s.res.Counters.Rollbacks++
		}
	}
	s.queued -= len(removed)
	// A rolled back instant is usually gone from the timeline, so that its blocks never joined the
	// queue. The command is still what became of them, and it changes no counter.
	before := len(s.uncommitted[target])
	if before > 0 {
		for _, i := range s.uncommitted[target] {
			f := &s.res.Fates[i]
			f.Outcome, f.By, f.ByFile, f.ByBlock = RolledBack, instant, ref.File, ref.Block.Index
			f.Why = fmt.Sprintf("Rolled back by the command block %d of %s, instant %s. A read leaves it out before it gets there, because %s is not completed on the timeline.", ref.Block.Index, s.files[ref.File].Name, by, of)
		}
		delete(s.uncommitted, target)
	}
	why := fmt.Sprintf("Rolls back instant %s: %d blocks before it are dropped.", target, len(removed))
	if len(removed) == 1 {
		why = fmt.Sprintf("Rolls back instant %s: 1 block before it is dropped.", target)
	}
	if len(removed) == 0 {
		why = fmt.Sprintf("Rolls back instant %s, of which no block is left to drop.", target)
		if before > 0 {
			why = fmt.Sprintf("Rolls back instant %s. Its blocks (%d) are left out already, because it is not completed on the timeline.", target, before)
		}
		if g := s.live[target]; s.o.Mode == ScanV1Until012 && g != nil && len(g.blocks) > 0 {
			why = fmt.Sprintf("Rolls back instant %s, but other blocks were written since, and Hudi %s only drops the last ones: nothing is dropped.", target, s.o.Mode)
		}
	}
	s.fate(ref, Command, why, instant)
	if s.o.Trace != nil {
		st := s.newStep(Rollback, ref, why)
		for _, i := range removed {
			st.Removed = append(st.Removed, s.res.Fates[i].Ref)
		}
		s.o.Trace(st)
	}
}

func (s *scan) merge(i int, where string) {
	f := &s.res.Fates[i]
	f.Why = fmt.Sprintf("Merged as number %d%s.", len(s.res.Blocks)+1, where)
	s.res.Blocks = append(s.res.Blocks, f.Ref)
	s.queued--
	s.step(Pop, f.Ref, f.Why)
}

func (s *scan) finishOnePass() {
	seen := map[string]bool{}
	for _, i := range s.queue {
		if f := &s.res.Fates[i]; f.Outcome == Merged {
			if in := f.Block.Instant(); !seen[in] {
				seen[in] = true
				s.res.ValidInstants = append(s.res.ValidInstants, in)
			}
			s.merge(i, "")
		}
	}
}

// finishTwoPass is the backward pass over the instants, with log compactions.
func (s *scan) finishTwoPass() {
	s.groups = slices.DeleteFunc(s.groups, func(g *group) bool { return len(g.blocks) == 0 })
	final := map[string]string{} // instant → the log compaction that holds its blocks
	resolve := func(instant string) string {
		if f, ok := final[instant]; ok {
			return f
		}
		return instant
	}
	var queue []string // instants, the newest first
	included := map[string]bool{}
	for _, g := range slices.Backward(s.groups) {
		into := resolve(g.instant)
		if times := s.res.Fates[g.blocks[0]].Block.CompactedTimes(); times != nil {
			for _, t := range times {
				final[t] = into
			}
		} else if !included[into] {
			included[into] = true
			queue = append(queue, into)
		}
	}
	originals := map[string][]string{} // clipped
	for _, g := range s.groups {
		if f := resolve(g.instant); f != g.instant {
			originals[f] = append(originals[f], clip(g.instant))
		}
	}
	for _, in := range slices.Backward(queue) {
		s.res.ValidInstants = append(s.res.ValidInstants, in)
		where := ""
		if of := originals[in]; len(of) > 4 {
			where = fmt.Sprintf(", in the place of %d instants it compacts, %s to %s", len(of), of[0], of[len(of)-1])
		} else if len(of) > 0 {
			where = ", in the place of what it compacts: " + strings.Join(of, ", ")
		}
		for _, i := range s.live[in].blocks {
			s.merge(i, where)
		}
	}
	for _, g := range s.groups {
		if included[g.instant] {
			continue
		}
		out, by := Unused, g.instant
		why := "Written by a log compaction; none of the blocks it replaces is valid here, so it has no place."
		if f := resolve(g.instant); f != g.instant {
			out, by, why = Compacted, f, fmt.Sprintf("Replaced by the log compaction of instant %s.", clip(f))
		}
		for _, i := range g.blocks {
			f := &s.res.Fates[i]
			f.Outcome, f.Why, f.By = out, why, by
			s.step(Skip, f.Ref, why)
		}
	}
}

// clip is an instant as it is said of many blocks: whole, unless it is longer than any writer makes one.
func clip(instant string) string {
	const most = 64
	if len(instant) <= most {
		return instant
	}
	return strings.ToValidUTF8(instant[:most], "") + "…"
}

func orNone(instant string) string {
	if instant == "" {
		return "(none)"
	}
	return instant
}
