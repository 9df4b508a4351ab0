//go:build !unix

package search

// keepable says that this system can tell files apart, so that a tree can be
// kept.
const keepable = false

// entryInfo is what is known of an entry, for a tree.
type entryInfo struct {
	kind    entryKind
	id      fileID
	mode    uint32
	links   uint64
	time    stamp
	changed stamp
}

func (f *dirHandle) look(string) (entryInfo, error)      { return entryInfo{}, errNoWatch }
func (f *dirHandle) lookSelf() (entryInfo, error)        { return entryInfo{}, errNoWatch }
func lookName(string, bool) (entryInfo, error)           { return entryInfo{}, errNoWatch }
func (f *dirHandle) openPath(string) (*dirHandle, error) { return nil, errNoWatch }
func (f *dirHandle) procPath() string                    { return "" }
