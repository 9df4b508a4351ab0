package process

import "os"

// drain has nothing to do where a pipe can not be handed on.
func drain(*os.File, func([]byte)) (ended bool) { return true }
