package scripthost

import (
	"context"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// none is no argument.
type none struct{}

// machineOps are the operations about the machine and its clock. They need no permission: they
// reveal little, and scripts could not start without them.
func (w *Host) machineOps() map[string]operation {
	return map[string]operation{
		"proc.info": op(w.info),
		"env.all":   op(w.variables),
		"clock": op(func(context.Context, *work, none) (any, error) {
			return float64(time.Since(w.born).Microseconds()) / 1000, nil
		}),
		"sleep":     op(sleep),
		"time.zone": op(zoneAt),
	}
}

// A machine is the result of proc.info.
type machine struct {
	Platform string   `json:"platform"`
	Arch     string   `json:"arch"`
	Pid      int      `json:"pid"`
	Ppid     int      `json:"ppid"`
	Argv     []string `json:"argv"`
	Cwd      string   `json:"cwd"`
	Home     string   `json:"home"`
	Tmp      string   `json:"tmp"`
	Hostname string   `json:"hostname"`
	UID      int      `json:"uid"`
	GID      int      `json:"gid"`
	User     string   `json:"user"`
	Shell    string   `json:"shell"`
	CPUs     int      `json:"cpus"`
	Release  string   `json:"release"`
	Version  string   `json:"version,omitempty"`
	Memory   uint64   `json:"memory"`
	Free     uint64   `json:"free"`
	Timezone string   `json:"timezone"`
}

func (w *Host) info(context.Context, *work, none) (any, error) {
	tmp, err := w.temp.folder()
	if err != nil {
		return nil, err
	}
	m := machine{
		Platform: platform(), Arch: architecture(), Pid: os.Getpid(), Ppid: os.Getppid(),
		Argv: []string{"bun", filepath.Join(w.opt.Dir, "tool.js")}, Cwd: w.opt.Dir, Tmp: tmp,
		UID: os.Getuid(), GID: os.Getgid(), CPUs: runtime.NumCPU(), Timezone: timezone(), Shell: os.Getenv("SHELL"),
	}
	m.Home, _ = os.UserHomeDir() // what is not known is empty
	m.Hostname, _ = os.Hostname()
	if who, err := user.Current(); err == nil {
		m.User = who.Username
	}
	m.measure()
	return m, nil
}

func platform() string {
	if runtime.GOOS == "windows" {
		return "win32"
	}
	return runtime.GOOS
}

func architecture() string {
	switch runtime.GOARCH {
	case "amd64":
		return "x64"
	case "386":
		return "ia32"
	}
	return runtime.GOARCH
}

// timezone is the IANA name of the zone the machine is in.
func timezone() string {
	if name, given := os.LookupEnv("TZ"); given {
		if name == "" {
			return "UTC"
		}
		if _, err := time.LoadLocation(name); err == nil {
			return name
		}
	}
	if at, err := filepath.EvalSymlinks("/etc/localtime"); err == nil {
		if _, name, ok := strings.Cut(filepath.ToSlash(at), "/zoneinfo/"); ok {
			return name
		}
	}
	return "UTC"
}

// variables returns the environment that scripts see. The folder for temporary files is always that
// of the engine.
func (w *Host) variables(context.Context, *work, none) (any, error) {
	all := map[string]string{}
	if w.opt.Variables != nil {
		maps.Copy(all, w.opt.Variables())
	}
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		if _, given := all[name]; given {
			tmp, err := w.temp.folder()
			if err != nil {
				return nil, err
			}
			all[name] = tmp
		}
	}
	return all, nil
}

func sleep(ctx context.Context, _ *work, a struct{ Ms float64 }) (any, error) {
	const most = float64(24 * time.Hour / time.Millisecond)
	timer := time.NewTimer(time.Duration(min(a.Ms, most) * float64(time.Millisecond)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func zoneAt(_ context.Context, _ *work, a struct {
	Zone string
	Ms   float64
}) (any, error) {
	zone, err := time.LoadLocation(a.Zone)
	if err != nil {
		return nil, err
	}
	name, seconds := time.UnixMilli(int64(a.Ms)).In(zone).Zone()
	return map[string]any{"minutes": seconds / 60, "name": name}, nil
}
