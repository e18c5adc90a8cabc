// Copied to dist/: loads the bundle, with a code cache where it may be trusted. What stands before the version check must be
// readable by an old Node.js, to tell it that it is too old.
if (Number(process.versions.node.split('.')[0]) < 22) {
  console.error(`volctl: needs Node.js 22 or newer, this is ${process.versions.node}.`)
  console.error('        Install volctl with its optional dependencies: they bring a Node.js of their own.')
  process.exit(1)
}

const { lstatSync, readFileSync } = require('node:fs')
const { join } = require('node:path')
const { loadBundle } = require('./load-bundle.cjs')

/** V8 does not verify cached code: a root tool must not run what somebody else could have put there. */
function onlyOursCanWrite(path) {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined || stats.isSymbolicLink()) return false
  const owned = stats.uid === 0 || stats.uid === process.geteuid()
  return owned && (stats.mode & 0o022) === 0
}

const cache = join(__dirname, 'code-cache')
const trusted = onlyOursCanWrite(__dirname) && onlyOursCanWrite(cache)
loadBundle(trusted ? readFileSync(cache) : undefined)
