package cli

import "golang.org/x/sys/windows"

// flushInput discards what was typed on a console and not read. If that fails, the input stays.
func flushInput(fd uintptr) { _ = windows.FlushConsoleInputBuffer(windows.Handle(fd)) }
