package workspace

import "os"

// openReal opens a name that holds no links. Between the decision and the
// opening a folder could be swapped here; the other systems walk by handle.
func openReal(name string, flags int) (*os.File, error) { return os.OpenFile(name, flags, 0) }
