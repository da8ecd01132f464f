package logscan

// StepKind is the kind of a step.
type StepKind string

// The steps of a scan, in the order they happen.
const (
	Read          StepKind = "read"           // a block was read
	InstantSwitch StepKind = "instant switch" // the block has another instant than the one before
	Push          StepKind = "push"           // the block joins the queue
	Skip          StepKind = "skip"           // the block is not merged; Why says why
	Rollback      StepKind = "rollback"       // a command was applied; Removed are the blocks it dropped
	Stop          StepKind = "stop"           // the scan ends here
	Pop           StepKind = "pop"            // the block leaves the queue to be merged
)

// Step is one step of a scan.
type Step struct {
	Kind StepKind
	Ref
	// Instant of the block.
	Instant string
	// Why is one sentence.
	Why string
	// Queued is the number of blocks waiting to be merged after the step.
	Queued int
	// Removed are the blocks a rollback dropped.
	Removed []Ref
}

// Recorder receives the steps of a scan. A nil Recorder costs nothing.
type Recorder func(Step)

func (s *scan) newStep(k StepKind, ref Ref, why string) Step {
	return Step{Kind: k, Ref: ref, Instant: ref.Block.Instant(), Why: why, Queued: s.queued}
}

func (s *scan) step(k StepKind, ref Ref, why string) {
	if s.o.Trace != nil {
		s.o.Trace(s.newStep(k, ref, why))
	}
}
