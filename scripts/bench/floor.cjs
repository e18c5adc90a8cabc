/**
 * What a demand's subject cannot do without, and nothing else: a bare script that makes the same reads and calls, decides nothing
 * and checks nothing. `floor.cjs mounts ROOT`, `tree ROOT`, `holders`, `unmount ROOT LIST`, `pods ROOT KUBECONFIG
 * REQUESTS RUNTIME`.
 */
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const { openSync, readdirSync, readFileSync, readlinkSync, readSync, rmdirSync } = require('node:fs')

const FLOORS = { mounts, tree, holders, unmount, pods: (...given) => require('./floor-pods.cjs')(...given) }
/** As find -maxdepth 4 of the pods' directory does: pods/UID/volumes/PLUGIN/NAME. */
const LEVELS = 4
/** As apply does: src/core/apply/umount-together.ts. */
const PATHS_PER_CALL = 3000
const CALLS_AT_ONCE = 2

const [, , name, ...given] = process.argv
void FLOORS[name](...given)

/** The kernel gives 4 KiB at a time, whatever is asked for. */
function readTable(path) {
  const piece = Buffer.allocUnsafe(256 * 1024)
  const file = openSync(path)
  let bytes = 0
  for (let read = -1; read !== 0; bytes += read) read = readSync(file, piece, 0, piece.length, null)
  return bytes
}

function list(directory, levels) {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (levels > 1 && entry.isDirectory()) list(`${directory}/${entry.name}`, levels - 1)
  }
}

function tree(root) {
  list(`${root}/pods`, LEVELS)
}

function mounts(root) {
  readTable('/proc/self/mountinfo')
  tree(root)
}

async function unmount(root, file) {
  mounts(root)
  const paths = readFileSync(file, 'utf8').trimEnd().split('\n')
  const parts = []
  for (let from = 0; from < paths.length; from += PATHS_PER_CALL) parts.push(paths.slice(from, from + PATHS_PER_CALL))
  const lane = async () => {
    for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
      await once(spawn('umount', part, { stdio: 'ignore' }), 'exit')
      for (const path of part) rmdirSync(path)
    }
  }
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, lane))
  readTable('/proc/self/mountinfo')
}

/** Every process's directories, files, maps, and each mount namespace's table once. */
function holders() {
  const namespaces = new Set()
  for (const pid of readdirSync('/proc')) {
    if (!/^\d+$/.test(pid)) continue
    const of = `/proc/${pid}`
    try {
      for (const link of ['cwd', 'root', 'exe']) readlinkSync(`${of}/${link}`)
      for (const file of readdirSync(`${of}/fd`)) readlinkSync(`${of}/fd/${file}`)
      readFileSync(`${of}/maps`)
      const namespace = readlinkSync(`${of}/ns/mnt`)
      if (!namespaces.has(namespace)) readTable(`${of}/mountinfo`)
      namespaces.add(namespace)
    } catch {
      // A kernel thread, or it has ended.
    }
  }
}
