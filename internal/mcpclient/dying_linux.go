package mcpclient

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strconv"
)

// dying reports whether a process has been killed or is exiting, even if nothing else shows it yet.
func dying(pid int) bool {
	const (
		exiting = 0x4 | 0x400 // of the flags: at its end, and killed by a signal
		kill    = 1 << 8      // of the pending signals
	)
	folder := "/proc/" + strconv.Itoa(pid)
	stat, err := os.ReadFile(folder + "/stat")
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	// The name, in parentheses, may contain anything.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const state, flags = 0, 6
	if len(fields) > flags {
		if c := fields[state][0]; c == 'Z' || c == 'X' {
			return true
		}
		if n, err := strconv.ParseUint(string(fields[flags]), 10, 64); err == nil && n&exiting != 0 {
			return true
		}
	}
	status, err := os.ReadFile(folder + "/status")
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	for _, key := range [...]string{"\nSigPnd:", "\nShdPnd:"} {
		_, after, ok := bytes.Cut(status, []byte(key))
		if !ok {
			continue
		}
		hex, _, _ := bytes.Cut(after, []byte("\n"))
		if n, err := strconv.ParseUint(string(bytes.TrimSpace(hex)), 16, 64); err == nil && n&kill != 0 {
			return true
		}
	}
	return false
}
