package cli

import (
	"crypto/rand"
	"fmt"
	"time"
)

// newID makes an identifier of the runtime's form for a call or a session
// that the runtime is told the name of.
func newID(prefix string) string {
	stamp := uint64(time.Now().UnixMilli()*4096) & (1<<48 - 1)
	return fmt.Sprintf("%s_%012x%s", prefix, stamp, rand.Text()[:14])
}
