/** Processes of another user that have more of something than anybody reads: each up to what the kernel lets a user have. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { forOthers } from '../../helpers/for-others.ts'
import { end, STRANGER } from './strangers.ts'

const READY = `process.stdout.write('ready'); setInterval(() => {}, 2 ** 30)`

/** Fewer than vm.max_map_count, with those that Node.js has itself. */
const MAPPINGS = `
const { functions } = require('node:ffi').dlopen(null, {
  open: { arguments: ['string', 'i32'], return: 'i32' },
  mmap: { arguments: ['u64', 'u64', 'i32', 'i32', 'i32', 'i64'], return: 'u64' },
})
const fd = functions.open(process.execPath, 0)
for (let left = 60_000; left > 0; left--) functions.mmap(0n, 4096n, 1, 1, fd, 0n)
${READY}`

/** The pool's threads are there from its first work on. */
const DESCRIPTORS = `
const { openSync, readFile } = require('node:fs')
for (let left = 19_000; left > 0; left--) openSync('/dev/null', 'r')
readFile('/dev/null', () => { ${READY} })`

const STACK = `
const { functions } = require('node:ffi').dlopen(null, {
  mount: { arguments: ['string', 'string', 'string', 'u64', 'string'], return: 'i32' },
})
for (let left = 20_000; left > 0; left--) functions.mount('/mnt', '/mnt', 'none', 4096n, '')
${READY}`

/** Each bind of the whole tree into itself doubles it: 32,768 mounts, and copies of them all. */
const MOUNTS = `mount -t tmpfs t /mnt
i=0; while [ $i -lt 15 ]; do mkdir /mnt/d$i; mount --rbind /mnt /mnt/d$i; i=$((i + 1)); done
i=0; while [ $i -lt 8 ]; do unshare -m sleep 1000 & i=$((i + 1)); done
echo ready; wait`

const OWN_NAMESPACES = ['unshare', '-U', '-r', '-m']
const NODE = 'node'
const node = (code: string): readonly string[] => [NODE, '--no-warnings', '--experimental-ffi', '-e', code]

/** By what there is too much of: the commands that make it. */
export const HOSTILE = {
  nothing: [],
  'mappings of three processes': Array.from({ length: 3 }, () => node(MAPPINGS)),
  'descriptors and threads': [['env', 'UV_THREADPOOL_SIZE=600', ...node(DESCRIPTORS)]],
  'mounts on one path': [[...OWN_NAMESPACES, ...node(STACK)]],
  'mounts and mount namespaces': [[...OWN_NAMESPACES, 'sh', '-c', MOUNTS]],
} as const satisfies Readonly<Record<string, readonly (readonly string[])[]>>

export type Hostile = keyof typeof HOSTILE

/** Does work beside them. */
export async function besideHostile<T>(hostile: Hostile, work: () => Promise<T>): Promise<T> {
  using others = forOthers()
  const children: ChildProcess[] = []
  try {
    for (const command of HOSTILE[hostile])
      children.push(await started(command.map((word) => (word === NODE ? others.node : word))))
    return await work()
  } finally {
    for (const child of children) {
      try {
        process.kill(-(child.pid ?? 0), 'SIGKILL')
      } catch {
        // It has ended.
      }
      await end(child)
    }
  }
}

async function started(command: readonly string[]): Promise<ChildProcess> {
  const as = ['--reuid', `${STRANGER}`, '--regid', `${STRANGER}`, '--clear-groups']
  const child = spawn('prlimit', ['--nofile=20000:20000', 'setpriv', ...as, ...command], {
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: '/',
    detached: true,
  })
  const failed = once(child, 'exit').then(() => Promise.reject(new Error(`${command.join(' ')} did not start`)))
  failed.catch(() => undefined)
  await Promise.race([once(child.stdout, 'data'), failed])
  return child
}
