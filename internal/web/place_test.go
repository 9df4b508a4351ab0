package web

import (
	"net/netip"
	"testing"

	"pgregory.net/rapid"
)

func TestPlaceOf(t *testing.T) {
	for place, addrs := range map[Place][]string{
		Public: {"8.8.8.8", "172.15.255.255", "172.32.0.1", "192.167.1.1", "11.0.0.1", "100.63.255.255", "100.128.0.1", "223.255.255.255", "198.17.255.255", "198.20.0.0",
			"2606:4700::1", "2001:200::1", "2001:4860:4860::8888", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"},
		Machine: {"127.0.0.1", "127.255.255.254", "::1", "::ffff:127.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::"},
		Private: {"10.0.0.5", "172.16.0.1", "172.31.255.255", "192.168.1.1", "fc00::1", "fdff::1", "::ffff:10.0.0.5", "64:ff9b::a00:1", "2002:a00:1::", "::10.0.0.1"},
		Link:    {"169.254.0.1", "169.254.255.255", "fe80::1", "fe80::1%eth0", "febf::1", "::ffff:169.254.1.1", "64:ff9b::169.254.1.1"},
		Metadata: {"169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16", "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254",
			"::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::", "::169.254.169.254"},
		Carrier: {"100.64.0.1", "100.127.255.255", "::ffff:100.64.0.1"},
		Special: {"192.0.0.1", "192.0.0.192", "198.18.0.1", "198.19.255.255", "64:ff9b:1::1", "fec0::1", "fec0::1%eth0", "feff::1"},
		Reserved: {"0.0.0.0", "0.1.2.3", "::", "::0.0.0.2", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255", "192.0.2.1", "198.51.100.7", "203.0.113.9", "192.88.99.1",
			"ff02::1", "ff0e::1", "2001::1", "2001:0:4136:e378::", "2001:20::1", "2001:db8::1", "3fff::1", "100::1", "4000::1", "5f00::1", "::ffff:0:127.0.0.1", "2002:e000:1::"},
	} {
		for _, addr := range addrs {
			if got := PlaceOf(netip.MustParseAddr(addr)); got != place {
				t.Errorf("%s is %q, want %q", addr, got, place)
			}
		}
	}
	if PlaceOf(netip.Addr{}) != Reserved {
		t.Error("no address is somewhere")
	}
}

func TestPlaces(t *testing.T) {
	said := map[string]bool{}
	for place, want := range map[Place][2]bool{ // inside, never
		Unknown: {}, Public: {}, Machine: {true, false}, Private: {true, false},
		Link: {false, true}, Metadata: {false, true}, Carrier: {false, true}, Special: {false, true}, Reserved: {false, true},
	} {
		if got := [2]bool{place.Inside(), place.Never()}; got != want {
			t.Errorf("%q: %v", place, got)
		}
		said[place.Says()] = true
	}
	if len(said) != 9 {
		t.Errorf("places share words: %v", said)
	}
}

// However an IPv4 address is wrapped, it stays where it is.
func TestCarried(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := [4]byte(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "ip"))
		four := netip.AddrFrom4(b)
		want := PlaceOf(four)
		tail := rapid.SliceOfN(rapid.Byte(), 10, 10).Draw(t, "tail")
		tunnel := [16]byte{0: 0x20, 1: 0x02, 2: b[0], 3: b[1], 4: b[2], 5: b[3]}
		copy(tunnel[6:], tail)
		forms := [][16]byte{
			four.As16(), tunnel,
			{0: 0, 1: 0x64, 2: 0xff, 3: 0x9b, 12: b[0], 13: b[1], 14: b[2], 15: b[3]},
		}
		if b != [4]byte{} && b != [4]byte{0, 0, 0, 1} {
			forms = append(forms, [16]byte{12: b[0], 13: b[1], 14: b[2], 15: b[3]})
		}
		for _, f := range forms {
			if ip := netip.AddrFrom16(f); PlaceOf(ip) != want {
				t.Fatalf("%s is %q, and %s is %q", ip, PlaceOf(ip), four, want)
			}
		}
	})
}

// Nothing that netip knows to be special is public.
func TestPublic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ip, _ := netip.AddrFromSlice(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "ip"))
		if rapid.Bool().Draw(t, "four") {
			b := ip.As16()
			ip = netip.AddrFrom4([4]byte(b[:4]))
		}
		if PlaceOf(ip) == Public && (!ip.IsGlobalUnicast() || ip.IsPrivate()) {
			t.Fatalf("%s is public", ip)
		}
	})
}
