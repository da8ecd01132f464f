package query

import (
	"context"
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

// Operator is StreamReadOperator: it reads queued splits in mini batches, so that checkpoints find
// their way in between (spec queries.md section 10.6). Queue is the state that a checkpoint saves; the
// split that is being read is its head. A crash between handing a record on and the next checkpoint
// repeats the record.
type Operator struct {
	Queue []QueuedSplit

	f    *Flink
	ro   table.ReadOptions
	next func() (Row, error, bool)
	stop func()
}

// NewOperator makes an operator with the splits of a saved state.
func NewOperator(f *Flink, ro table.ReadOptions, state []QueuedSplit) *Operator {
	return &Operator{f: f, ro: ro, Queue: append([]QueuedSplit(nil), state...)}
}

// Add queues a split.
func (o *Operator) Add(s Split) { o.Queue = append(o.Queue, QueuedSplit{Split: s}) }

// Idle reports whether there is nothing to read.
func (o *Operator) Idle() bool { return len(o.Queue) == 0 }

// Snapshot is the state for a checkpoint.
func (o *Operator) Snapshot() []QueuedSplit { return append([]QueuedSplit(nil), o.Queue...) }

// Close ends the split that is being read.
func (o *Operator) Close() {
	if o.stop != nil {
		o.stop()
	}
	o.next, o.stop = nil, nil
}

// Run is one task: it reads at most MiniBatch records of the queue's head and hands them on. ctx must
// stay alive until the split is read.
func (o *Operator) Run(ctx context.Context, emit func(Row) error) error {
	if len(o.Queue) == 0 {
		return nil
	}
	head := &o.Queue[0]
	if o.next == nil {
		var st groupreader.Stats
		o.next, o.stop = iter.Pull2(o.f.Rows(ctx, &head.Split, true, o.ro, &st))
		for range head.Consumed {
			if _, err, ok := o.next(); !ok || err != nil {
				o.Close()
				if err == nil {
					o.Queue = o.Queue[1:]
				}
				return err
			}
		}
	}
	for range MiniBatch {
		row, err, ok := o.next()
		if err != nil {
			o.Close()
			return err
		}
		if !ok {
			o.Close()
			o.Queue = o.Queue[1:]
			return nil
		}
		if err := emit(row); err != nil {
			return err
		}
		head.Consumed++
	}
	return nil
}
