package proof

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// A Usage is what a process has used, and what it holds now.
type Usage struct {
	Work     time.Duration // of the processor
	Peak     int64         // bytes of memory at the most, with the pages of its program
	Resident int64         // bytes of memory now
	Own      int64         // of these, what nobody else could use
}

// UsageOf reads what a process has used, from Linux; elsewhere it is nothing.
func UsageOf(pid int) (u Usage) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	tasks, err := filepath.Glob(filepath.Join(dir, "task", "*", "schedstat"))
	if err != nil {
		return u
	}
	for _, t := range tasks {
		text, _ := os.ReadFile(t) // nothing where the thread has ended
		word, _, _ := strings.Cut(string(text), " ")
		n, _ := strconv.ParseInt(word, 10, 64)
		u.Work += time.Duration(n)
	}
	status, _ := os.ReadFile(filepath.Join(dir, "status"))
	for row := range strings.Lines(string(status)) {
		name, rest, _ := strings.Cut(row, ":")
		n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
		switch name {
		case "VmHWM":
			u.Peak = n << 10
		case "VmRSS":
			u.Resident = n << 10
		case "RssAnon":
			u.Own = n << 10
		}
	}
	return u
}

// Descriptors are what the descriptors of a process lead to, as Linux words it
// ("socket:[123]", "/dev/null").
func Descriptors(pid int) (all []string) {
	dir := filepath.Join("/proc", strconv.Itoa(pid), "fd")
	names, _ := os.ReadDir(dir) // none where there is no such folder
	for _, name := range names {
		if to, err := os.Readlink(filepath.Join(dir, name.Name())); err == nil {
			all = append(all, to)
		}
	}
	return all
}

// Descendants are the processes that a process has started, those that these
// have, and so on, as long as their parents live.
func Descendants(pid int) (all []int) {
	lists, _ := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task", "*", "children"))
	for _, list := range lists {
		text, _ := os.ReadFile(list) // nothing where the thread has ended
		for word := range strings.FieldsSeq(string(text)) {
			if child, err := strconv.Atoi(word); err == nil {
				all = append(append(all, child), Descendants(child)...)
			}
		}
	}
	return all
}

// Machine says in a line what it is measured on.
func Machine() string {
	model, memory := "", ""
	info, _ := os.ReadFile("/proc/cpuinfo") // not known where there is none
	for row := range strings.Lines(string(info)) {
		if name, rest, ok := strings.Cut(row, ":"); ok && strings.TrimSpace(name) == "model name" {
			model = strings.TrimSpace(rest) + ", "
			break
		}
	}
	info, _ = os.ReadFile("/proc/meminfo")
	if fields := strings.Fields(string(info)); len(fields) > 1 {
		kib, _ := strconv.ParseInt(fields[1], 10, 64)
		memory = fmt.Sprintf("%.0f GiB, ", float64(kib)/(1<<20))
	}
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return fmt.Sprintf("%s%d processors, %s%s/%s %s, %s", model, runtime.NumCPU(), memory,
		runtime.GOOS, runtime.GOARCH, strings.TrimSpace(string(kernel)), runtime.Version())
}

// Busy is how many processes want to run, on average of the last minute, as
// Linux tells it: figures of a machine that others use too are worth less.
func Busy() string {
	text, _ := os.ReadFile("/proc/loadavg") // not known where there is none
	first, _, _ := strings.Cut(string(text), " ")
	return cmp.Or(first, "not known")
}

// Version is the first line that a program prints of itself, or empty.
func Version(argv ...string) string {
	out, err := exec.Command(argv[0], argv[1:]...).Output()
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimSpace(line)
}

// MiB is a number of bytes as a figure in MiB.
func MiB(bytes int64) float64 { return float64(bytes) / (1 << 20) }
