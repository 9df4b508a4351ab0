package process

import (
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

const (
	directPause = 10 * time.Millisecond
	killedCode  = 1    // the exit code of what is ended
	maxJobList  = 1024 // processes of a job that are looked at
)

// A trace is not needed: the job has everything.
type trace struct{}

// A directJob is a job object with all processes of a command: none can leave it, and they end when
// its handle is closed, also by the death of this program.
type directJob struct {
	r *Runner

	mu     sync.Mutex
	job    windows.Handle
	closed bool
}

// startDirect starts a command in a job of its own.
func (r *Runner) startDirect(s *spawn, p *Process) error {
	job, err := newJob()
	if err != nil {
		return err
	}
	child, err := os.StartProcess(s.path, s.argv, &os.ProcAttr{
		Dir: s.dir, Env: s.env, Files: s.files[:],
		Sys: &syscall.SysProcAttr{
			CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_SUSPENDED | windows.CREATE_NO_WINDOW,
			HideWindow:    true,
		},
	})
	if err != nil {
		windows.CloseHandle(job)
		return err
	}
	j := &directJob{r: r, job: job}
	p.pid, p.by = child.Pid, j
	if err = assign(job, p.pid); err == nil {
		err = r.enlist(p)
	}
	if err == nil {
		err = resume(uint32(p.pid))
	}
	if err != nil {
		_ = child.Kill()
		_, _ = child.Wait()
		j.close(p)
		return err
	}
	go func() {
		state, err := child.Wait()
		status := Status{Code: -1, Err: err}
		if err == nil {
			status = Status{Code: state.ExitCode()}
		}
		if alive, err := j.list(p); err == nil && len(alive) == 0 {
			j.close(p)
		}
		p.setStatus(status)
	}()
	return nil
}

// close lets go of the job, with all that is in it.
func (j *directJob) close(p *Process) {
	j.r.mu.Lock()
	delete(j.r.live, p)
	j.r.mu.Unlock()
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.closed {
		j.closed = true
		windows.CloseHandle(j.job)
	}
}

// enlist takes a command up, so that Close finds it. It stays as long as its
// job has processes.
func (r *Runner) enlist(p *Process) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return ErrClosed
	}
	r.live[p] = true
	return nil
}

func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, fmt.Errorf("job object: %w", err)
	}
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err != nil {
		windows.CloseHandle(job)
		return 0, fmt.Errorf("job object: %w", err)
	}
	return job, nil
}

func assign(job windows.Handle, pid int) error {
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pid))
	if err != nil {
		return fmt.Errorf("job object: %w", err)
	}
	defer windows.CloseHandle(h)
	if err := windows.AssignProcessToJobObject(job, h); err != nil {
		return fmt.Errorf("job object: %w", err)
	}
	return nil
}

// resume lets a process run that was started as suspended, by its one thread.
func resume(pid uint32) error {
	snap, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	defer windows.CloseHandle(snap)
	entry := windows.ThreadEntry32{Size: uint32(unsafe.Sizeof(windows.ThreadEntry32{}))}
	for err = windows.Thread32First(snap, &entry); err == nil; err = windows.Thread32Next(snap, &entry) {
		if entry.OwnerProcessID != pid {
			continue
		}
		h, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, entry.ThreadID)
		if err != nil {
			return fmt.Errorf("resume: %w", err)
		}
		_, err = windows.ResumeThread(h)
		windows.CloseHandle(h)
		if err != nil {
			return fmt.Errorf("resume: %w", err)
		}
		return nil
	}
	return fmt.Errorf("resume: %w", err)
}

// signal supports two signals: an interrupt is a break event for the group, every other one ends
// the job.
func (j *directJob) signal(p *Process, sig syscall.Signal) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return fmt.Errorf("signal: %w", os.ErrProcessDone)
	}
	if sig == syscall.SIGINT {
		return windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(p.pid))
	}
	return windows.TerminateJobObject(j.job, killedCode)
}

func (j *directJob) end(p *Process, grace time.Duration) ([]Survivor, error) {
	if grace > 0 && j.signal(p, syscall.SIGINT) == nil {
		j.until(p, grace)
	}
	if j.signal(p, syscall.SIGKILL) == nil {
		j.until(p, killLimit)
	}
	left, err := j.list(p)
	j.close(p)
	if len(left) == 0 {
		<-p.done
	}
	return left, err
}

// until waits until the job is empty, or for so long.
func (j *directJob) until(p *Process, d time.Duration) {
	for limit := time.Now().Add(d); time.Now().Before(limit); time.Sleep(directPause) {
		if list, err := j.list(p); err != nil || len(list) == 0 {
			return
		}
	}
}

func (j *directJob) list(p *Process) (alive []Survivor, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return nil, nil
	}
	var ids struct {
		Assigned, Listed uint32
		PIDs             [maxJobList]uintptr
	}
	err = windows.QueryInformationJobObject(j.job, windows.JobObjectBasicProcessIdList,
		uintptr(unsafe.Pointer(&ids)), uint32(unsafe.Sizeof(ids)), nil)
	if err != nil {
		return nil, fmt.Errorf("job object: %w", err)
	}
	for _, pid := range ids.PIDs[:min(int(ids.Listed), maxJobList)] {
		alive = append(alive, Survivor{PID: int(pid), Name: imageName(uint32(pid))})
	}
	return alive, nil
}

func imageName(pid uint32) string {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, pid)
	if err != nil {
		return ""
	}
	defer windows.CloseHandle(h)
	buf := make([]uint16, windows.MAX_PATH)
	n := uint32(len(buf))
	if windows.QueryFullProcessImageName(h, 0, &buf[0], &n) != nil {
		return ""
	}
	return windows.UTF16ToString(buf[:n])
}

// closeLeft has nothing to do: what is in a job is found by it.
func (r *Runner) closeLeft() {}
