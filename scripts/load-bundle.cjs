// Copied to dist/: loads a bundle, that of the commands with V8's code cache. Kept apart from the launcher, since the build
// makes the cache with the same function: after a whole plan has run, so that it contains the code that a plan needs and not
// only what is compiled at load.
const { fstatSync } = require('node:fs')
const Module = require('node:module')
const { homedir } = require('node:os')
const { join } = require('node:path')
const vm = require('node:vm')

const COMMANDS = 'volctl.cjs'
const CHILD = 'child.cjs'

/**
 * Which bundle a command line needs: all commands, or what volctl's own children do (src/core/linux/own-child.ts), for which
 * there is no code cache. Typed at a terminal, the word starts no child.
 *
 * @param {readonly string[]} args what follows the script
 */
exports.bundleFor = (args) =>
  args.length === 1 && args[0].startsWith('--internal-child-') && !fstatSync(0).isCharacterDevice() ? CHILD : COMMANDS

/**
 * @param {string} source of the bundle: plain ASCII, in the function that Node.js makes of a module
 * @param {Buffer | undefined} cachedData made from the same bundle by the same Node.js; V8 drops any other
 * @param {string} name the bundle's
 * @returns {vm.Script} which has run
 */
exports.loadBundle = (source, cachedData, name = COMMANDS) => {
  // Node.js would open a debugger's port, where any local user could run code as root; dd(1) shows its progress (S34).
  process.on('SIGUSR1', () => {})
  // A root tool does not read a user's theme. The launcher has checked the version of Node.js.
  process.env.VOLCTL_DISABLE_THEME = '1'
  process.env.OCLIF_DISABLE_ENGINE_WARNING = '1'
  // oclif would ask the machine's user database, which a small root directory has not.
  process.env.SHELL = '/bin/sh'
  if (!hasHome()) process.env.HOME = '/nonexistent'
  const filename = join(__dirname, name)
  const script = exports.compileBundle(source, cachedData, name)
  const bundle = new Module(filename, module)
  bundle.filename = filename
  script.runInThisContext().call(bundle.exports, bundle.exports, requireBuiltin, bundle, filename, __dirname)
  return script
}

function hasHome() {
  try {
    return homedir() !== ''
  } catch (_) {
    return false
  }
}

/** As above, without running it. The cache holds the name: it must be no name of the machine that built it. */
exports.compileBundle = (source, cachedData, name = COMMANDS) =>
  new vm.Script(source, {
    filename: name,
    cachedData,
    importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  })

/**
 * Everything else is in the bundle. Node.js would look for a package in node_modules of every directory above, of /tmp for a
 * copy in there, and in HOME (S33).
 */
function requireBuiltin(name) {
  if (Module.isBuiltin(name)) return require(name)
  throw Object.assign(new Error(`${name} is not in the bundle`), { code: 'MODULE_NOT_FOUND' })
}
requireBuiltin.resolve = (name) => {
  requireBuiltin(name)
  return name
}
