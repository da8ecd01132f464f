package main

import "slices"

// A PC of Go in WebAssembly is a function and a number in it. The compiler counts them up at every call, place, check
// for nil and inlined call, and a function's br_table has an entry for each. The numbers differ at every call, and so
// don't compress. renumber gives places one number each, so that all br_tables begin alike and calls count up
// by one; what can't be gone on at (a panic) shares one number with everything of its kind in the function.
//
// The runtime asks its tables with a return address and, for most, the number before it. For each
// return address that there is, both get the values that they had.
type numbering struct {
	f             *function
	sp, smap, inl steps // by old number
	table         []int // the old br_table
	first         []int // the first old number of each place
	newFirst      []int // the first new number of each place
	newTable      []int
	extra         map[extraKey]int
	parents       []parent
}

// extraKey is what the tables say of two numbers that no code runs at.
type extraKey struct{ sp, smap, inl, spAfter, inlAfter int32 }

// parent is where an inlined call's caller stands.
type parent struct {
	at  []byte // of the number
	key extraKey
}

// number prepares new numbers for a function with its own br_table, or returns nil for one that keeps its numbers:
// one of assembly, or one that the runtime knows by name.
func (fs *functions) number(f *function, table []int, places int, seen map[uint32]bool) (*numbering, error) {
	id, flag := f.record[recordID], f.record[recordFlag]
	if id != idNormal && id != idWrapper || flag != 0 || len(f.pcdata) > pcdataKinds-1 {
		return nil, nil
	}
	pcdata := func(k int) (steps, error) {
		if k >= len(f.pcdata) {
			return nil, nil
		}
		return fs.steps(f.pcdata[k])
	}
	n := &numbering{f: f, table: table, extra: map[extraKey]int{}}
	var err error
	if n.sp, err = fs.steps(le.Uint32(f.record[recordPCSP:])); err != nil {
		return nil, err
	}
	if n.smap, err = pcdata(pcdataStackMap); err != nil {
		return nil, err
	}
	if n.inl, err = pcdata(pcdataInlTree); err != nil {
		return nil, err
	}
	// Places have numbers in order, each at least one.
	for pc, k := range table {
		if k == len(n.first) {
			n.first = append(n.first, pc)
		} else if k != len(n.first)-1 {
			return nil, errCode
		}
	}
	if len(n.first) != places || len(n.sp) < len(table) {
		return nil, errCode
	}
	for k := range n.first {
		n.newFirst = append(n.newFirst, len(f.sp))
		end := len(n.sp)
		if k+1 < len(n.first) {
			end = n.first[k+1]
		}
		for a := n.first[k]; a < end; {
			z := a // the last number with the same frame
			for z+1 < end && n.sp[z+1] == n.sp[a] {
				z++
			}
			n.newTable = append(n.newTable, k)
			n.add(n.sp[a], n.smap.at(z), n.inl.at(z))
			a = z + 1
		}
	}
	// The last place is the default.
	n.newTable = append(n.newTable[:n.newFirst[places-1]:n.newFirst[places-1]], places-1)

	if d := le.Uint32(f.record[recordDeferReturn:]); d != 0 {
		k, ok := n.place(int(d) + 1)
		if !ok {
			return nil, errCode
		}
		le.PutUint32(f.record[recordDeferReturn:], uint32(n.newFirst[k]-1))
	}
	if funcdataInlTree < len(f.funcdata) && f.funcdata[funcdataInlTree] != noFuncData {
		off := f.funcdata[funcdataInlTree]
		if seen[off] {
			return nil, errTable
		}
		seen[off] = true
		for _, i := range slices.Compact(slices.Sorted(slices.Values(n.inl))) {
			if i < 0 {
				continue
			}
			from := int(off) + inlinedBytes*int(i)
			if from > len(fs.gofunc)-inlinedBytes {
				return nil, errTable
			}
			e := fs.gofunc[from : from+inlinedBytes]
			pc := max(0, int(int32(le.Uint32(e[inlinedParent:]))))
			v := n.inl.at(pc)
			n.parents = append(n.parents, parent{e, extraKey{n.sp.at(pc), -1, v, n.sp.at(pc), v}})
		}
	}
	return n, nil
}

// unchanged returns what makes a function again what it is now, as long as it has not been renumbered.
func (f *function) unchanged() (undo func()) {
	record := slices.Clone(f.record)
	return func() {
		copy(f.record, record)
		f.sp, f.stackMap, f.inl = nil, nil, nil
	}
}

func (n *numbering) add(sp, smap, inl int32) {
	n.f.sp, n.f.stackMap, n.f.inl = append(n.f.sp, sp), append(n.f.stackMap, smap), append(n.f.inl, inl)
}

// place is the place that begins at an old number.
func (n *numbering) place(pc int) (int, bool) { return slices.BinarySearch(n.first, pc) }

// jump is the new number to go on at an old one.
func (n *numbering) jump(pc int) int {
	return n.newFirst[n.table[min(pc, len(n.table)-1)]]
}

// after is the new return address for an old one. For a panic out of a bad access (sigpanic), the runtime doesn't
// ask which pointers live.
func (n *numbering) after(pc int, sigpanic bool) int {
	if k, ok := n.place(pc); ok {
		return n.newFirst[k]
	}
	key := extraKey{n.sp.at(pc - 1), n.smap.at(pc - 1), n.inl.at(pc - 1), n.sp.at(pc), n.inl.at(pc - 1)}
	if sigpanic {
		key.smap, key.inlAfter = -1, n.inl.at(pc)
	}
	return n.pair(key) + 1
}

// pair is the first of two numbers with these values.
func (n *numbering) pair(k extraKey) int {
	pc, ok := n.extra[k]
	if !ok {
		pc = len(n.f.sp)
		n.add(k.sp, k.smap, k.inl)
		n.add(k.spAfter, k.smap, k.inlAfter)
		n.extra[k] = pc
	}
	return pc
}

// finish is called when all of the function's code has its new numbers.
func (n *numbering) finish() error {
	for _, p := range n.parents {
		n.pair(p.key)
	}
	if len(n.f.sp) > 1<<16 {
		return errCode
	}
	for _, p := range n.parents {
		le.PutUint32(p.at[inlinedParent:], uint32(n.pair(p.key)))
		le.PutUint32(p.at[inlinedLine:], 0)
	}
	n.f.renumbered = true
	return nil
}
