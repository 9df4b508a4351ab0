//go:build !unix

package search

// keepable says that this system can tell files apart, so that a tree can be
// kept.
const keepable = false

// info is what is known of an entry, for a tree.
type info struct {
	kind    entryKind
	id      fileID
	mode    uint32
	links   uint64
	time    stamp
	changed stamp
}

func (f *folder) look(string) (info, error)     { return info{}, errNoWatch }
func (f *folder) lookSelf() (info, error)       { return info{}, errNoWatch }
func lookName(string, bool) (info, error)       { return info{}, errNoWatch }
func (f *folder) below(string) (*folder, error) { return nil, errNoWatch }
func (f *folder) path() string                  { return "" }
