package explorer

import (
	"context"
	"errors"
	"sync"

	"hudiscope/core/api"
	"hudiscope/core/groupreader"
	"hudiscope/core/metatable"
	"hudiscope/core/query"
	"hudiscope/core/release"
	"hudiscope/core/skipping"
)

// readRequest is what requests for rows, plans and exports share.
type readRequest struct {
	options    map[string]string
	partitions []string
	fileID     string
	condition  api.Condition
}

// prepared is a plan with what its condition left out of it.
type prepared struct {
	*query.Plan
	// pruning is nil for a read without a condition.
	pruning  *api.Pruning
	findings []api.Finding
	// asked is what was asked for; order are the columns that rows are ordered by.
	asked readRequest
	order []api.SortKey
	// sizes of the files of all candidates in bytes, by path; nil unless they were asked for.
	sizes map[string]int64
	// folders looks, once, whether partitions were left out rightly; it reads a footer, which planning does not.
	folders func(ctx context.Context) string
	looked  sync.Once
}

// lookAtFolders is called where rows are read.
func (p *prepared) lookAtFolders(ctx context.Context) {
	if p.folders == nil {
		return
	}
	p.looked.Do(func() {
		if n := p.folders(ctx); n != "" {
			p.findings = append(p.findings, api.Finding{Level: "warning", Title: "Rows may be missing", Detail: n})
		}
	})
}

// allFindings are what a user must know about the plan's rows.
func (p *prepared) allFindings(rules *release.Rules) []api.Finding {
	return append(findingsOf(p.Plan, rules), p.findings...)
}

// prepare plans a read: every face of it goes through here, so that rows are read as the plan says. The
// condition is applied, and the slices that it rules out are no longer parts of the plan. progress may be nil.
func (s *Service) prepare(ctx context.Context, h *handle, req readRequest, sizes bool, progress func(dirs int)) (*prepared, error) {
	q, err := query.Parse(req.options)
	if err != nil {
		return nil, err
	}
	o, err := skipping.ParseOptions(req.options, h.table.Rules)
	if err != nil {
		return nil, err
	}
	q.Read.Partitions, q.Read.FileID = req.partitions, req.fileID
	p, err := query.Prepare(ctx, h.table, q, progress)
	if err != nil {
		return nil, err
	}
	if err := restrict(p, req.condition); err != nil {
		return nil, err
	}
	out := &prepared{Plan: p, asked: req}
	if sizes {
		if out.sizes, err = h.sizes(ctx, p.Parts); err != nil {
			return nil, err
		}
	}
	if p.Condition() == nil {
		return out, nil
	}
	in := skipping.Input{Table: h.table, Where: p.Condition(), Rows: p.Type, Sizes: out.sizes, Options: o, Snapshot: q.Incremental == nil && q.Type == "snapshot" && !q.Read.SkipMerge, ByNumber: p.ByNumber(), Foreign: !p.PathValues(),
		Open: func(ctx context.Context) (*metatable.Table, error) { return s.metadataTable(ctx, h) }}
	if in.Slices = make([]groupreader.Slice, len(p.Parts)); len(p.Parts) > 0 {
		for i := range p.Parts {
			in.Slices[i] = p.Parts[i].Slice
		}
		view, err := h.table.View(ctx, nil)
		if err != nil {
			return nil, err
		}
		in.Latest = q.Read.AsOf == "" || q.Read.AsOf >= view.Latest
	}
	if q.Incremental != nil {
		in.Changes = q.Incremental.CDC
		in.Refused = "An incremental read looks at the files of its commits; Hudi asks no index there."
	}
	h.progress(ctx, api.Progress{Phase: "Asking the indexes"})
	res, err := skipping.Prune(ctx, in)
	if err != nil {
		return nil, strictFault(err)
	}
	out.pruning, out.findings = res.Pruning, res.Findings
	out.folders = func(ctx context.Context) string { return skipping.Folders(ctx, in, res.Keep) }
	p.Retain(func(i int) bool { return res.Keep[i] })
	return out, nil
}

// strictFault is the fault of an index that can't be read in strict mode: it names the index beside the file.
func strictFault(err error) error {
	var f *skipping.Failure
	if !errors.As(err, &f) {
		return err
	}
	fault := *ToFault(f.Err)
	fault.Message = "The index " + f.Index + " can't be read, and the read is strict about that. " + fault.Message
	fault.Try = f.Try()
	return &fault
}
