package sandbox

import "path/filepath"

// Env returns the variables, as name=value, that point programs to folders they can write in the
// sandbox. They go last into a command's environment. The user's own caches are not writable,
// because others would later run what a sandboxed command puts there.
func (p Profile) Env() []string {
	var env []string
	temp := p.Temp
	if temp == "" && !p.Bare {
		temp = "/tmp" // private
	}
	if temp != "" {
		env = append(env, "TMPDIR="+temp, "TMP="+temp, "TEMP="+temp)
	}
	if p.Cache == "" {
		return env
	}
	in := func(name, folder string) { env = append(env, name+"="+filepath.Join(p.Cache, folder)) }
	in("XDG_CACHE_HOME", "")
	in("GOCACHE", "go-build")
	in("npm_config_cache", "npm")
	in("npm_config_store_dir", "pnpm")
	in("YARN_CACHE_FOLDER", "yarn")
	in("BUN_INSTALL_CACHE_DIR", "bun")
	in("DENO_DIR", "deno")
	in("PIP_CACHE_DIR", "pip")
	in("UV_CACHE_DIR", "uv")
	in("PYTHONPYCACHEPREFIX", "pycache")
	in("GRADLE_USER_HOME", "gradle")
	in("NUGET_PACKAGES", "nuget")
	in("CCACHE_DIR", "ccache")
	in("SCCACHE_DIR", "sccache")
	return env
}
