package cli

import "golang.org/x/sys/windows"

// flushInput makes a console forget what was typed and not read. Where it can
// not, what was typed stays.
func flushInput(fd uintptr) { _ = windows.FlushConsoleInputBuffer(windows.Handle(fd)) }
