package disk

import "time"

// Modified returns when the file was last written to.
func (s State) Modified() time.Time { return time.Unix(0, s.mtime) }
