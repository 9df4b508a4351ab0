package search

import "errors"

// errNoWatch says that this system cannot report changes in a folder.
var errNoWatch = errors.New("folders can not be watched here")

// A change is what happened to a watched folder or to one of its entries.
type change struct {
	key  uint32 // of the folder, as given to add
	what changeKind
	name string // of the entry; "" means the folder itself
}

// A changeKind says what happened.
type changeKind uint8

const (
	changeCreated    changeKind = iota + 1 // the entry is new; a file may still be empty
	changeRemoved                          // the entry is gone
	changeMovedFrom                        // the entry went away to some name
	changeMovedTo                          // the entry came from some name, perhaps over an older one
	changeModified                         // the contents changed
	changeClosed                           // a file that was open for writing was closed
	changeAttributes                       // times, mode, owner or number of links changed
	changeSelfMoved                        // the folder has another name now; it stays watched
	changeSelfGone                         // the folder was removed or unmounted; its key is dropped
)
