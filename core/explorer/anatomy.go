package explorer

import (
	"context"

	"hudiscope/core/anatomy"
	"hudiscope/core/api"
	"hudiscope/core/groupreader"
	"hudiscope/core/storage"
)

// Anatomy tells what the bytes of a base file are. Only footers and headers are read.
func (s *Service) Anatomy(ctx context.Context, req api.AnatomyRequest) (*api.Anatomy, error) {
	h, err := s.open(ctx, req.Table)
	if err != nil {
		return nil, err
	}
	if req.Chunk < 0 {
		return nil, invalid("A column chunk has a number from 1 on.")
	}
	file := req.File
	if h.table == nil && file == "" {
		file = h.single
	}
	if !safePath(file) {
		return nil, invalid("%q is not a path inside the table.", req.File)
	}
	h.progress(ctx, api.Progress{Phase: "Reading the footer"})
	obj, err := h.src.Open(ctx, file)
	if err != nil {
		return nil, err
	}
	defer obj.Close()
	return anatomy.Read(ctx, obj, anatomy.Options{Path: file, Offset: req.Offset, Length: req.Length, Chunk: req.Chunk,
		ORC: func(ctx context.Context, obj storage.Object) (anatomy.Stripes, error) {
			return s.stripes(ctx, obj, file)
		}})
}

// stripes opens an object as ORC for its layout.
func (s *Service) stripes(ctx context.Context, obj storage.Object, file string) (anatomy.Stripes, error) {
	if s.opts.ORC == nil {
		return nil, &groupreader.NeedsPart{File: file, Part: "orc"}
	}
	f, err := s.opts.ORC(ctx, obj, file)
	if err != nil {
		return nil, err
	}
	if l, ok := f.(anatomy.Stripes); ok {
		return l, nil
	}
	f.Close()
	return nil, unsupported("The layout of ORC files is not told here.", "")
}
