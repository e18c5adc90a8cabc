/**
 * Runs a command of this checkout under the Node.js that `npm ci` puts into node_modules, whatever Node.js and npm a person has.
 * Many npm remove node_modules/.bin/node together with the package of another machine, which has a program of that name too.
 *
 *   node scripts/run.cjs COMMAND [ARGUMENT...]
 *
 * This file alone runs before that, and under any Node.js.
 */
'use strict'
// biome-ignore-start lint/style/useNodejsImportProtocol: Node.js 12 does not know it.
const { spawn, spawnSync } = require('child_process')
const { existsSync } = require('fs')
const { delimiter, join } = require('path')
// biome-ignore-end lint/style/useNodejsImportProtocol: the same
const { optionalDependencies } = require('../package.json')

const root = join(__dirname, '..')
const machine = `${process.platform}-${process.arch}`
const folder = `node_modules/node-${machine}`
const why = whyNot()
if (why === undefined) run(process.argv.slice(2))
else {
  console.error(`volctl: ${why}`)
  process.exitCode = 1
}

/** Why the Node.js of node_modules cannot run here; undefined: it can. */
function whyNot() {
  const version = optionalDependencies[`node-${machine}`]
  if (version === undefined) {
    const machines = Object.keys(optionalDependencies).map((name) => name.replace('node-', ''))
    return `the checkout brings its own Node.js, for ${machines.join(' and ')}; this machine is ${machine}.`
  }
  const node = join(root, folder, 'bin', 'node')
  if (!existsSync(node)) return `Node.js ${version} is not in ${folder}. Next: npm ci`
  const { status, stderr } = spawnSync(node, ['--version'], { encoding: 'utf8' })
  if (status === 0) return undefined
  const [, library] = /([\w+.-]+): cannot open shared object file/.exec(stderr || '') || []
  return library === undefined
    ? `${folder}/bin/node does not start: ${(stderr || 'it needs glibc').trim()}`
    : `${folder}/bin/node needs ${library}, which is not installed. Next: apt-get install libatomic1 libstdc++6, or dnf install libatomic libstdc++`
}

/** Its exit status, or the signal that ended it, becomes this process's. */
function run([command, ...args]) {
  const before = [join(root, folder, 'bin'), join(root, 'node_modules', '.bin')]
  // A terminal sends Ctrl-C to both.
  const wait = () => {}
  const forward = (signal) => child.kill(signal)
  process.on('SIGINT', wait).on('SIGTERM', forward).on('SIGHUP', forward)
  const child = spawn(command, args, {
    stdio: 'inherit',
    env: { ...process.env, PATH: [...before, process.env.PATH].join(delimiter) },
  })
  child.on('error', ({ message }) => {
    console.error(`volctl: ${message}`)
    process.exitCode = 1
  })
  child.on('exit', (status, signal) => {
    process.off('SIGINT', wait).off('SIGTERM', forward).off('SIGHUP', forward)
    if (signal === null) process.exitCode = status
    else process.kill(process.pid, signal)
  })
}
