package lspclient

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strconv"
)

// rss returns the memory of the processes and all their descendants; 0 if none of them exists. File
// and shared pages are counted once, for the process that has the most of them, because the
// processes of one server mostly share them.
func rss(pids ...int) int64 {
	var own, shared int64
	for p := range descendants(pids) {
		o, s := held(p)
		own += o
		shared = max(shared, s)
	}
	return (own + shared) * int64(os.Getpagesize())
}

// held reads how many private pages, and how many file or shared pages, a process has.
func held(pid int) (own, shared int64) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		return 0, 0
	}
	f := bytes.Fields(b)
	if len(f) < 3 {
		return 0, 0
	}
	resident, _ := strconv.ParseInt(string(f[1]), 10, 64)
	shared, _ = strconv.ParseInt(string(f[2]), 10, 64)
	return max(0, resident-shared), shared
}

// descendants returns the processes with all their descendants.
func descendants(pids []int) map[int]bool {
	all := map[int]bool{}
	var table map[int][]int // children by parent, where the system does not list them
	for len(pids) > 0 {
		pid := pids[len(pids)-1]
		pids = pids[:len(pids)-1]
		if pid <= 1 || all[pid] {
			continue
		}
		all[pid] = true
		list, ok := children(pid)
		if !ok {
			if table == nil {
				table = parents()
			}
			list = table[pid]
		}
		pids = append(pids, list...)
	}
	return all
}

// children lists the children of a process; false when this system has no such
// list. A process that is gone has none.
func children(pid int) (list []int, ok bool) {
	base := "/proc/" + strconv.Itoa(pid) + "/task"
	threads, err := os.ReadDir(base)
	if err != nil {
		return nil, true
	}
	for _, t := range threads {
		b, err := os.ReadFile(base + "/" + t.Name() + "/children")
		if errors.Is(err, fs.ErrNotExist) {
			if _, gone := os.Stat(base + "/" + t.Name()); gone != nil {
				continue
			}
			return nil, false
		}
		for _, f := range bytes.Fields(b) {
			if n, err := strconv.Atoi(string(f)); err == nil {
				list = append(list, n)
			}
		}
	}
	return list, true
}

// parents reads the whole process table: the children of each parent.
func parents() map[int][]int {
	table := map[int][]int{}
	procs, err := os.ReadDir("/proc")
	if err != nil {
		return table
	}
	for _, p := range procs {
		pid, err := strconv.Atoi(p.Name())
		if err != nil {
			continue
		}
		b, err := os.ReadFile("/proc/" + p.Name() + "/stat")
		if err != nil {
			continue
		}
		// The name in parentheses may contain anything.
		f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
		if len(f) < 2 {
			continue
		}
		if parent, err := strconv.Atoi(string(f[1])); err == nil {
			table[parent] = append(table[parent], pid)
		}
	}
	return table
}
