package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A piece is a program that some tests are held against, which a script of ours
// brings. ./check brings the same.
type piece struct {
	name   string // of the variable that says where it is
	script string
	lost   string // what is left out without it
}

func pieces() []piece {
	return []piece{
		{"HELVE_RG15", ".ci/ripgrep15", "ripgrep 15: patterns and lines against it"},
		{"HELVE_BUN", ".ci/bun", "Bun: scripts against it"},
		{"HELVE_AXE", ".ci/axe", "axe-core: whether everybody can use the console"},
		{"HELVE_TSC", ".ci/typescript", "the TypeScript compiler: the types of the TypeScript client"},
		{"HELVE_MCP_SDK", ".ci/mcp-sdk", "MCP's SDK for Node: a client written with it"},
		{"HELVE_LANGUAGE_SERVERS", ".ci/language-servers", "language servers: what they find in broken code"},
	}
}

// kit is the environment of the tests, and what is not to be had.
func (s *settings) kit(ctx context.Context) (env, lacking []string) {
	env = os.Environ()
	for _, p := range pieces() {
		if os.Getenv(p.name) == "" {
			fmt.Fprintf(s.log, "prove: %s\n", p.script)
			cmd := exec.CommandContext(ctx, "sh", p.script)
			cmd.Dir = s.root
			out, err := cmd.Output()
			where := string(bytes.TrimSpace(out))
			if err != nil || where == "" {
				lacking = append(lacking, p.lost)
				continue
			}
			env = append(env, p.name+"="+where)
			if p.name == "HELVE_BUN" { // zod lies beside it
				env = append(env, "HELVE_ZOD="+filepath.Join(filepath.Dir(filepath.Dir(where)), "zod"))
			}
		}
	}
	for _, p := range strings.Fields("strace git rg tmux clangd node python3") {
		if _, err := exec.LookPath(p); err != nil {
			lacking = append(lacking, p+": tests that need it")
		}
	}
	if s.long {
		env = append(env, "HELVE_LONG=10", "HELVE_STORE_KILLS=2000", "HELVE_KILLS=2000")
	}
	return env, lacking
}
