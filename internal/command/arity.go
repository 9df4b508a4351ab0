package command

import "strings"

// prefixLen returns how many words at the beginning of a command name what it does: three for npm
// run dev --open. The longest beginning in a table decides; for other commands it is one. Options
// count as words. The result may exceed the number of words.
func prefixLen(words []string) int {
	for n := min(2, len(words)); n > 0; n-- { // no key is longer
		if k, ok := arity(strings.Join(words[:n], " ")); ok {
			return k
		}
	}
	return 1
}

// arity is the table: how many words name what a command does.
func arity(key string) (int, bool) {
	switch key {
	case "cat", "cd", "chmod", "chown", "cp", "echo", "env", "export", "grep", "kill", "killall", "ln", "ls",
		"mkdir", "mv", "ps", "pwd", "rm", "rmdir", "sleep", "source", "tail", "touch", "unset", "which":
		return 1, true
	case "bazel", "brew", "bun", "cargo", "cdk", "cf", "cmake", "composer", "consul", "crictl", "deno", "docker",
		"eksctl", "firebase", "flyctl", "git", "go", "gradle", "helm", "heroku", "hugo", "ip", "kind", "kubectl",
		"kustomize", "make", "mc", "minikube", "mongosh", "mysql", "mvn", "ng", "npm", "nvm", "nx", "openssl",
		"pip", "pipenv", "pnpm", "poetry", "podman", "psql", "pulumi", "pyenv", "python", "rake", "rbenv",
		"redis-cli", "rustup", "serverless", "skaffold", "sls", "sst", "swift", "systemctl", "terraform", "tmux",
		"turbo", "ufw", "vault", "vercel", "volta", "wp", "yarn":
		return 2, true
	case "aws", "az", "doctl", "gcloud", "gh", "sfdx",
		"bun run", "bun x", "cargo add", "cargo run", "consul kv", "deno task", "docker builder", "docker compose",
		"docker container", "docker image", "docker network", "docker volume", "eksctl create", "git config",
		"git remote", "git stash", "ip addr", "ip link", "ip netns", "ip route", "kind create",
		"kubectl kustomize", "kubectl rollout", "mc admin", "npm exec", "npm init", "npm run", "npm view",
		"openssl req", "openssl x509", "pnpm dlx", "pnpm exec", "pnpm run", "podman container", "podman image",
		"pulumi stack", "terraform workspace", "vault auth", "vault kv", "yarn dlx", "yarn run":
		return 3, true
	}
	return 0, false
}
