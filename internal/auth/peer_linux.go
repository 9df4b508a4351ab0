package auth

import (
	"bufio"
	"encoding/hex"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Stranger reports whether another user of this machine has sent a request. The command line of a
// process, such as the link that a browser is started with, is visible to all of them. It is false
// for requests from other machines.
func Stranger(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	to, err := netip.ParseAddrPort(local.String())
	if err != nil {
		return false
	}
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		if uid, found := ownerOf(name, from, to); found {
			return uid != os.Geteuid() && uid != 0
		}
	}
	return false
}

// ownerOf looks up, in a table of the kernel, the user of the connection from one address to
// another.
func ownerOf(table string, from, to netip.AddrPort) (uid int, found bool) {
	f, err := os.Open(table)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	wide := strings.HasSuffix(table, "6")
	here, there := kernelAddr(from, wide), kernelAddr(to, wide)
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) > 7 && fields[1] == here && fields[2] == there {
			uid, err := strconv.Atoi(fields[7])
			return uid, err == nil
		}
	}
	return 0, false
}

// kernelAddr formats an address like the tables of a little-endian kernel: in words of four bytes.
// On a big-endian one nothing is found.
func kernelAddr(a netip.AddrPort, wide bool) string {
	raw := a.Addr().Unmap().AsSlice()
	if wide {
		long := a.Addr().As16()
		raw = long[:]
	}
	for i := 0; i+4 <= len(raw); i += 4 {
		slices.Reverse(raw[i : i+4])
	}
	port := strconv.FormatUint(uint64(a.Port()), 16)
	return strings.ToUpper(hex.EncodeToString(raw) + ":" + strings.Repeat("0", 4-len(port)) + port)
}
