// Copied to dist/: turns the compile cache on and loads the bundle. What stands before the version check must be
// readable by an old Node.js, to tell it that it is too old.
if (Number(process.versions.node.split('.')[0]) < 22) {
  console.error(`volctl: needs Node.js 22 or newer, this is ${process.versions.node}.`)
  console.error('        Install volctl with its optional dependencies: they bring a Node.js of their own.')
  process.exit(1)
}

const { lstatSync } = require('node:fs')
const { enableCompileCache } = require('node:module')
const { join } = require('node:path')

/** V8 does not verify cached code: a root tool must not run what somebody else could have put there. */
function onlyOursCanWrite(directory) {
  const stats = lstatSync(directory, { throwIfNoEntry: false })
  if (stats === undefined || !stats.isDirectory()) return false
  const owned = stats.uid === 0 || stats.uid === process.geteuid()
  return owned && (stats.mode & 0o022) === 0
}

const cache = join(__dirname, 'compile-cache')
if (onlyOursCanWrite(cache)) enableCompileCache({ directory: cache, portable: true })
// A root tool does not read a user's theme. The version of Node.js has been looked at above.
process.env.VOLCTL_DISABLE_THEME = '1'
process.env.OCLIF_DISABLE_ENGINE_WARNING = '1'
require('./volctl.cjs')
