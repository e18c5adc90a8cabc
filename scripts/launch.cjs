// Copied to dist/: loads the bundle, with a code cache if that may be trusted. An old Node.js must be able to parse the lines
// before the version check, which says that it is too old.
if (Number(process.versions.node.split('.')[0]) < 22) {
  const why = `needs Node.js 22 or newer, this is ${process.versions.node}.`
  end(why, 'Install volctl with its optional dependencies: they bring a Node.js of their own.')
}

const { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, statSync } = require('node:fs')
const { dirname, join } = require('node:path')

/** The owner that a user namespace shows for files of users without an id in it. */
const OVERFLOW_UID = 65534
/** A uid_map in which every id is itself. */
const EVERY_ID = /^\s*0\s+0\s+4294967295\s*$/

const isRoot = process.geteuid() === 0
const trusted = isRoot ? [0, ...callersUid(), ...overflowUid()] : [0, process.geteuid()]

// bin/volctl has checked all of this, but this file can also be started by hand. A plain user gains no rights by it; root
// must not run what somebody else can change (S33).
if (isRoot) orEnd(() => requireOurDirectories())
if (isRoot) for (const name of ['kept-environment.cjs', 'load-bundle.cjs']) orEnd(() => readOurs(name))
keepEnvironment(require('./kept-environment.cjs'))
const { bundleFor, loadBundle } = require('./load-bundle.cjs')
const name = bundleFor(process.argv.slice(2))
const bundle = isRoot ? orEnd(() => readOurs(name)) : readFileSync(join(__dirname, name))
loadBundle(bundle.toString('latin1'), name === 'volctl.cjs' ? codeCache() : undefined, name)

/** V8 does not verify cached code: nobody must run what somebody else could have put there. */
function codeCache() {
  try {
    requireOurDirectories()
    return readOurs('code-cache')
  } catch (_) {
    return undefined
  }
}

/** One open file, so the bytes read are those of the file that was checked. Opening a FIFO or a device must not block. */
function readOurs(name) {
  const path = join(__dirname, name)
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const stats = fstatSync(fd)
    if (!stats.isFile()) throw new Error(`${path} is not a plain file`)
    requireOurs(path, stats)
    return readFileSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** A user who can write to a directory above can put another one in its place. Node.js has resolved the links on the way. */
function requireOurDirectories() {
  for (let path = __dirname; ; path = dirname(path)) {
    // After a re-entry: the root directory of the process that has started this one (src/core/node/reenter.ts).
    const stats = /\/proc\/\d+\/root$/.test(path) ? statSync(path) : lstatSync(path)
    if (!stats.isDirectory()) throw new Error(`${path} is not a directory`)
    requireOurs(path, stats)
    if (path === '/') return
  }
}

function requireOurs(path, stats) {
  if (!trusted.includes(stats.uid)) throw new Error(`${path} is not safe, it belongs to another user`)
  // In a sticky directory, such as /tmp, nobody can replace another user's file.
  const isSticky = stats.isDirectory() && (stats.mode & 0o1000) !== 0
  if ((stats.mode & 0o022) !== 0 && !isSticky) throw new Error(`${path} is not safe, others may write to it`)
}

function orEnd(look) {
  try {
    return look()
  } catch (error) {
    const advice = 'Install volctl where only root may write, such as /opt.'
    return end(`not run as root: ${error.message}. ${advice}`)
  }
}

function end(why, next) {
  console.error(`volctl: ${why}`)
  if (next !== undefined) console.error(`        ${next}`)
  const asked = process.argv.slice(2).find((word) => !word.startsWith('--internal-'))
  if (asked !== 'check') process.exit(1)
  // Monitors read it: 1 would say that something is wrong with the node.
  console.log('unknown: volctl cannot start')
  process.exit(2)
}

/** The uid of the person who called through sudo(8), who is root already. */
function callersUid() {
  const { SUDO_UID: uid } = process.env
  return /^\d+$/.test(uid) ? [Number(uid)] : []
}

function overflowUid() {
  try {
    return EVERY_ID.test(readFileSync('/proc/self/uid_map', 'utf8')) ? [] : [OVERFLOW_UID]
  } catch (_) {
    return []
  }
}

function keepEnvironment({ KEPT, PATH, isFile }) {
  const kept = new Set(KEPT)
  for (const [name, value] of Object.entries(process.env))
    if (!kept.has(name) || isFile(name, value)) delete process.env[name]
  process.env.PATH = PATH
}
