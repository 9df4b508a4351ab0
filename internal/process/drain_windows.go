package process

import "os"

// drain does nothing where a pipe cannot be handed on.
func drain(*os.File, func([]byte)) (ended bool) { return true }
