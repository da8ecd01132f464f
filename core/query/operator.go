package query

import (
	"context"
	"fmt"
	"iter"

	"hudiscope/core/groupreader"
	"hudiscope/core/table"
)

// MiniBatch is how many records Flink's StreamReadOperator reads in one task of its mailbox.
const MiniBatch = 2048

// QueuedSplit is a split that waits for its reader. Consumed counts the records that were handed on:
// after a restore that many are skipped.
type QueuedSplit struct {
	Split    Split
	Consumed int64
}

// OperatorEvent is one thing that an operator did. Kind is added, scheduled, taken, skipped, emitted, finished
// or idle.
type OperatorEvent struct {
	Kind string
	// Split is nil where no split is meant.
	Split *Split
	// Records of skipped and emitted.
	Records int64
	Detail  string
}

// Operator is StreamReadOperator: it reads queued splits in mini batches, so that checkpoints find
// their way in between (spec queries.md section 10.6). Queue is the state that a checkpoint saves; the
// split that is being read is its head. A crash between handing a record on and the next checkpoint
// repeats the record.
type Operator struct {
	Queue []QueuedSplit
	// MiniBatch is the most records of one task.
	MiniBatch int
	// Event is told what happens; it may be nil.
	Event func(OperatorEvent)

	running bool
	f       *Flink
	ro      table.ReadOptions
	next    func() (Row, error, bool)
	stop    func()
}

// NewOperator makes an operator with the splits of a saved state, and schedules its first task.
func NewOperator(f *Flink, ro table.ReadOptions, state []QueuedSplit, event func(OperatorEvent)) *Operator {
	o := &Operator{f: f, ro: ro, MiniBatch: MiniBatch, Event: event, Queue: append([]QueuedSplit(nil), state...)}
	o.schedule()
	return o
}

func (o *Operator) tell(kind string, s *Split, n int64, format string, args ...any) {
	if o.Event != nil {
		o.Event(OperatorEvent{Kind: kind, Split: s, Records: n, Detail: fmt.Sprintf(format, args...)})
	}
}

// Add queues a split.
func (o *Operator) Add(s Split) {
	o.Queue = append(o.Queue, QueuedSplit{Split: s})
	o.tell("added", &s, 0, "The split is the last of %d in the queue.", len(o.Queue))
	o.schedule()
}

// schedule puts a task into the mailbox, unless one is there or nothing is to be read.
func (o *Operator) schedule() {
	if o.running || len(o.Queue) == 0 {
		return
	}
	o.running = true
	o.tell("scheduled", nil, 0, "The queue has splits and no task is in the mailbox: one is put there.")
}

// Running reports whether a task is in the mailbox.
func (o *Operator) Running() bool { return o.running }

// Snapshot is the state for a checkpoint.
func (o *Operator) Snapshot() []QueuedSplit { return append([]QueuedSplit(nil), o.Queue...) }

// Close ends the split that is being read.
func (o *Operator) Close() {
	if o.stop != nil {
		o.stop()
	}
	o.next, o.stop = nil, nil
}

// Run is one task: it reads at most MiniBatch records of the queue's head and hands them on, and
// schedules the next task. ctx must stay alive until the split is read.
func (o *Operator) Run(ctx context.Context, emit func(Row) error) error {
	if !o.running {
		return nil
	}
	o.running = false
	done, err := o.read(ctx, emit)
	if err != nil {
		o.Close()
		return err
	}
	if done {
		o.Close()
		o.tell("finished", &o.Queue[0].Split, o.Queue[0].Consumed, "The split is read, and leaves the queue.")
		o.Queue = o.Queue[1:]
	}
	if o.schedule(); !o.running {
		o.tell("idle", nil, 0, "The queue is empty.")
	}
	return nil
}

// read reads from the head of the queue; done is true when it has no more.
func (o *Operator) read(ctx context.Context, emit func(Row) error) (done bool, err error) {
	head := &o.Queue[0]
	if o.next == nil {
		o.tell("taken", &head.Split, 0, "The head of the queue is opened: %s.", head.Split.Iterator)
		var st groupreader.Stats
		o.next, o.stop = iter.Pull2(o.f.Rows(ctx, &head.Split, true, o.ro, &st))
		for i := range head.Consumed {
			_, err, ok := o.next()
			if err != nil {
				return false, err
			}
			if !ok {
				return false, refuse("Start again without the saved state.", "The saved state says that %d records of split %d were handed on, and the split has only %d now.", head.Consumed, head.Split.Num, i)
			}
		}
		if head.Consumed > 0 {
			o.tell("skipped", &head.Split, head.Consumed, "The records that were handed on before the state was saved are read again and skipped.")
		}
	}
	var n int64
	defer func() {
		if n > 0 {
			o.tell("emitted", &head.Split, n, "%d records are handed on.", n)
		}
	}()
	for n < int64(o.MiniBatch) {
		row, err, ok := o.next()
		if err != nil {
			return false, err
		}
		if !ok {
			return true, nil
		}
		if err := emit(row); err != nil {
			return false, err
		}
		head.Consumed++
		n++
	}
	return false, nil
}
