const path = require("path")

// CommonJS.
exports.ResolvePaths = async function ({ directory }) {
  return {
    "tool.execute.before": async (input, output) => {
      if (output.args.path) output.args.path = path.resolve(directory, output.args.path)
    },
    "session.created": async () => {},
  }
}
