const os = require("os")
const { join } = require("path")

function stateDir() {
  return process.env.XDG_STATE_HOME || join(os.homedir(), ".local", "state", "shop")
}

module.exports = { stateDir, LIMIT: 3 }
module.exports.stateFile = (name) => join(stateDir(), name)
