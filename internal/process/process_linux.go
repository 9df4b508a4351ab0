package process

import (
	"errors"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// look returns what the process table says about a process. ok is false if there is none, or only a
// zombie.
func look(pid int) (p process, ok bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, false
	}
	return parseStat(pid, string(data))
}

// parseStat reads a stat line. The name of the program is in parentheses and
// may hold any character.
func parseStat(pid int, line string) (p process, ok bool) {
	f := strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
	if len(f) < 20 || f[0] == "Z" || f[0] == "X" {
		return process{}, false
	}
	var err [3]error
	p = process{pid: pid, start: f[19]}
	p.parent, err[0] = strconv.Atoi(f[1])
	p.group, err[1] = strconv.Atoi(f[2])
	p.session, err[2] = strconv.Atoi(f[3])
	return p, errors.Join(err[:]...) == nil
}

// listProcesses returns the processes that are alive.
func listProcesses() []process {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var out []process
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if p, ok := look(pid); ok {
				out = append(out, p)
			}
		}
	}
	return out
}

// send sends a signal to a process, and to no other that has its number by now.
func (p process) send(sig unix.Signal) error {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err == nil {
		defer unix.Close(fd)
	}
	if now, ok := look(p.pid); !ok || now.start != p.start {
		return nil
	}
	if err == nil {
		err = unix.PidfdSendSignal(fd, sig, nil, 0)
	}
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EPERM) {
		err = unix.Kill(p.pid, sig) // an old kernel, or a filter of system calls
	}
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}

func bootID() string {
	data, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return clip(strings.TrimSpace(string(data)), mostName)
}

// pidSpace names the space in which processes are numbered.
func pidSpace() string {
	name, _ := os.Readlink("/proc/self/ns/pid")
	return clip(name, mostName)
}
