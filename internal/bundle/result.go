package bundle

import (
	"fmt"
	"strings"
)

// result puts together what the rounds gave.
func (s *buildSession) result() (*Result, error) {
	r := &Result{Problems: s.problems}
	packed, err := s.packMap()
	if err != nil {
		return nil, err
	}
	needs := s.needs()
	r.Code, r.Map, r.table = s.code, packed, s.table
	for _, name := range s.o.Files {
		f := File{Name: name, Problems: s.dropped[name]}
		if f.Problems == nil {
			f.Problems = s.problemsOf(name)
			order, _ := s.graph.from(name)
			for _, module := range order {
				f.Needs = append(f.Needs, needs[module]...)
			}
		}
		r.Files = append(r.Files, f)
	}
	r.Inputs = s.fingerprint()
	r.Hash = r.hash()
	return r, nil
}

// hash covers all inputs, the options and the program, which also represents the compiler's
// version.
func (r *Result) hash() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", r.Inputs.Options)
	for _, m := range r.Inputs.Files {
		fmt.Fprintf(&b, "%q %s\n", m.Path, m.Sum)
	}
	b.WriteString(r.Code)
	return hashOf([]byte(b.String()))
}
