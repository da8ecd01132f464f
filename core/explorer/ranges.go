package explorer

import (
	"context"

	"hudiscope/core/api"
	"hudiscope/core/query"
	"hudiscope/core/release"
)

// Ranges says which times the ends of ranges are, so that whoever offers instants to choose from sends what the query
// takes.
func (s *Service) Ranges(ctx context.Context, req api.RangesRequest) (*api.Ranges, error) {
	h, err := s.ready(ctx, req.Table)
	if err != nil {
		return nil, err
	}
	q, err := query.Parse(req.Options)
	if err != nil {
		return nil, err
	}
	if q.Incremental == nil {
		q.Incremental = &query.Incremental{}
	}
	version := h.table.Config.Version
	out := &api.Ranges{ByRequestedTime: q.Incremental.ByRequestedTime(version)}
	for _, name := range req.Releases {
		rules, err := release.For(name)
		if err != nil {
			return nil, err
		}
		out.Releases = append(out.Releases, api.ReleaseRanges{Hudi: name, StartIncluded: rules.StartIncluded && !out.ByRequestedTime,
			FlinkByRequestedTime: query.FlinkByRequestedTime(version, &rules)})
	}
	return out, nil
}
