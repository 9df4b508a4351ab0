package modeltest

import "net"

// Open starts a server for a program that is no test. Who opens it closes it.
func Open() (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return serve(l), nil
}
