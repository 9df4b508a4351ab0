// Keeps secrets from being read.
export const EnvProtection = async ({ project, client, $, directory, worktree }) => {
  return {
    "tool.execute.before": async (input, output) => {
      if (input.tool === "read" && output.args.filePath.includes(".env")) {
        throw new Error("Do not read .env files")
      }
      if (input.tool === "bash" && /(^|[\s/])\.env(\s|$)/.test(output.args.command)) {
        throw new Error(`Blocked: "${output.args.command}" touches .env`)
      }
    },
  }
}
