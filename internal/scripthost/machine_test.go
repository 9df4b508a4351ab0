package scripthost

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/helve-dev/helve/internal/plugins"
	"github.com/helve-dev/helve/internal/script"
	"github.com/helve-dev/helve/tool"
)

func TestMachine(t *testing.T) {
	r := newRoom(t, `{"*": "deny"}`)
	var info map[string]any
	unmarshal(t, r.must("proc.info", nil), &info)
	for name, want := range map[string]any{"cwd": r.dir, "cpus": float64(runtime.NumCPU())} {
		if info[name] != want {
			t.Errorf("%s is %v, want %v", name, info[name], want)
		}
	}
	for _, name := range []string{"platform", "arch", "tmp", "timezone", "release", "argv", "pid"} {
		if info[name] == nil || info[name] == "" {
			t.Errorf("%s is not known", name)
		}
	}
	if got := r.must("env.all", nil); got != "{}" {
		t.Errorf("variables that nobody has given: %s", got)
	}
	var first, second float64
	unmarshal(t, r.must("clock", nil), &first)
	unmarshal(t, r.must("clock", nil), &second)
	if first < 0 || second < first {
		t.Errorf("the clock says %v, then %v", first, second)
	}
	if got := r.questions(); got != nil {
		t.Errorf("asked %q", got)
	}
}

func TestZones(t *testing.T) {
	r := newRoom(t, `{"*": "deny"}`)
	if _, err := time.LoadLocation("Europe/Berlin"); err != nil {
		t.Skip("the machine knows no zones")
	}
	for ms, want := range map[int64]string{1720000000000: `{"minutes":120,"name":"CEST"}`, 1705000000000: `{"minutes":60,"name":"CET"}`} {
		if got := r.must("time.zone", arg{"zone": "Europe/Berlin", "ms": ms}); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := r.code("time.zone", arg{"zone": "Nowhere/Land"}); got == "ok" {
		t.Error("a zone that is none is known")
	}
}

func TestSleepEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := New(plugins.Services{Dir: "/"})
		ctx := For(t.Context(), &tool.Call{}, "custom")
		slept := func(ctx context.Context, ms float64) (time.Duration, error) {
			text, err := json.Marshal(arg{"ms": ms})
			must(t, err)
			before := time.Now()
			_, err = w.Now(ctx, "sleep", script.Data{JSON: text})
			return time.Since(before), err
		}
		if took, err := slept(ctx, 1500); err != nil || took != 1500*time.Millisecond {
			t.Errorf("%v, %v", took, err)
		}
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		if took, err := slept(short, 5000); !errors.Is(err, context.DeadlineExceeded) || took != time.Second {
			t.Errorf("%v, %v", took, err)
		}
	})
}

// A request of nobody is a mistake of the program's, and answered with it.
func TestNobody(t *testing.T) {
	r := newRoom(t, `{"*": "allow"}`)
	if _, err := r.world.Now(t.Context(), "fs.stat", script.Data{JSON: []byte(`{"path":"/"}`)}); !errors.Is(err, errNobody) {
		t.Errorf("%v", err)
	}
	if _, err := r.world.Now(r.ctx, "fs.stat", script.Data{JSON: []byte(`{`)}); err == nil {
		t.Error("half a request was answered")
	}
}
