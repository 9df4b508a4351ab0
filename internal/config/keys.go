package config

import "strings"

// Keys calls tell for every key that a config file may have: its path, such as agent.NAME.steps,
// where NAME stands for any name and [] for the elements of a list; what its value must be, in
// words, "" for anything; and whether it has an effect only in helve's own files. Keys are sorted,
// and come before those within them.
func (Options) Keys(tell func(path, want string, own bool)) {
	fileShape().keys("", false, tell)
}

// keys calls tell for the key at a path, which has the shape, and those within it.
func (s *shape) keys(path string, own bool, tell func(path, want string, own bool)) {
	own = own || s.helve
	if path != "" {
		tell(path, s.wantWhole(), own)
	}
	for _, name := range s.keyNames() {
		s.fields[name].keys(strings.TrimPrefix(path+"."+name, "."), own, tell)
	}
	switch {
	case s.each == nil:
	case strings.Contains(s.kinds, "o"):
		s.each.keys(path+".NAME", own, tell)
	case len(s.each.fields) > 0:
		for _, name := range s.each.keyNames() {
			s.each.fields[name].keys(path+"[]."+name, own, tell)
		}
	}
}

// wantWhole is want, with the elements of a list.
func (s *shape) wantWhole() string {
	if s.kinds != "a" || s.each == nil {
		return s.want()
	}
	switch s.each.kinds {
	case "s":
		return "a list of strings"
	case "o":
		return "a list of objects"
	}
	return s.want()
}
