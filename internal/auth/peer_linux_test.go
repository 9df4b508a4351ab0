package auth

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

func TestKernelAddr(t *testing.T) {
	for text, want := range map[string]string{
		"127.0.0.1:4096": "0100007F:1000",
		"10.0.0.2:80":    "0200000A:0050",
	} {
		if got := kernelAddr(netip.MustParseAddrPort(text), false); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
	if got, want := kernelAddr(netip.MustParseAddrPort("127.0.0.1:1"), true), "0000000000000000FFFF00000100007F:0001"; got != want {
		t.Error(got)
	}
	if got, want := kernelAddr(netip.MustParseAddrPort("[::1]:1"), true), "00000000000000000000000001000000:0001"; got != want {
		t.Error(got)
	}
}

// A request of ours is known as such, and one of another user as that.
func TestStranger(t *testing.T) {
	for _, network := range []string{"tcp4", "tcp6"} {
		l, err := net.Listen(network, map[string]string{"tcp4": "127.0.0.1:0", "tcp6": "[::1]:0"}[network])
		if err != nil {
			t.Skipf("no %s here: %v", network, err)
		}
		srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if Stranger(r) {
				w.WriteHeader(http.StatusForbidden)
			}
		}))
		srv.Listener = l
		srv.Start()
		defer srv.Close()
		resp, err := http.Get(srv.URL)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Errorf("%s: ours: %d", network, resp.StatusCode)
		}
		http.DefaultClient.CloseIdleConnections()
		if os.Geteuid() != 0 {
			continue // nobody else can be had
		}
		curl, err := exec.LookPath("curl")
		if err != nil {
			t.Skip("no curl to be another user with")
		}
		cmd := exec.Command(curl, "-s", "-o", "/dev/null", "-w", "%{http_code}", srv.URL)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		cmd.Dir = "/"
		out, err := cmd.Output()
		if err != nil || strings.TrimSpace(string(out)) != "403" {
			t.Errorf("%s: another user: %s %v", network, out, err)
		}
	}
}
