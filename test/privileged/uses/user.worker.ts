/**
 * Somebody who uses a volume, in one way, as a process: says "ready", and, asked by a line on its standard input, writes
 * that line through its use, reads it and the mark back, and says in a line what was wrong (empty: nothing). It ends with
 * its standard input.
 */

import { spawnSync } from 'node:child_process'
import { dlopen, toBuffer } from 'node:ffi'
import { closeSync, fstatSync, fsyncSync, openSync, readFileSync, readSync, writeFileSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads'
import { changeRoot, mapFile } from '../system-calls.ts'
import { type Held, LINE, PAGE } from './held.ts'

/** Of unshare(2). */
const CLONE_FILES = 0x400
/** Fewer than vm.max_map_count, with those that Node.js has itself. */
const MAPPINGS = 60_000

type Check = (token: string) => void

const { how, path, mark, at = 0, cover, name, crowd } = JSON.parse(process.argv[2] ?? '{}') as Held

const CHECKS: Readonly<Record<Held['how'], () => Check>> = {
  path: () => inDirectory(path),
  cwd: () => {
    process.chdir(path)
    return inDirectory('.')
  },
  root: () => {
    changeRoot(path)
    return inDirectory('')
  },
  'open directory': () => inDirectory(`/proc/self/fd/${openSync(path, 'r')}`),
  'read-only': () => {
    const fd = openSync(path, 'r')
    return () => inFile(fd, undefined)
  },
  'for write': () => {
    const fd = openSync(path, 'r+')
    return (token) => inFile(fd, token)
  },
  'by name': () => (token) => {
    const fd = openSync(path, 'r+')
    inFile(fd, token)
    closeSync(fd)
  },
  mapped: inMemory,
  'in a thread': inThread,
}

const check = CHECKS[how]()
// The kernel may ask whoever serves such a mount: nothing below it is looked at.
if (cover !== undefined) spawnSync('mount', ['-t', 'devpts', 'devpts', cover])
if (name !== undefined) writeFileSync('/proc/self/comm', name)
for (let many = 0; crowd !== undefined && many < MAPPINGS && mapFile(crowd); many++);
process.stdout.write('ready\n')
createInterface({ input: process.stdin })
  .on('line', (token) => {
    let wrong = ''
    try {
      check(token)
    } catch (error) {
      wrong = (error as Error).message
    }
    process.stdout.write(`${wrong.replaceAll('\n', ' ')}\n`)
  })
  .on('close', () => process.exit(0))

function inDirectory(directory: string): Check {
  return (token) => {
    // A pod's own directory holds none.
    if (mark !== '') expect('the mark', mark, readFileSync(`${directory}/mark`, 'latin1').slice(0, LINE))
    writeFileSync(`${directory}/token`, token, { flush: true })
    expect('what was written', token, readFileSync(`${directory}/token`, 'latin1'))
  }
}

function inFile(fd: number, token: string | undefined): void {
  const file = fstatSync(fd)
  // Of a device only the node is gone.
  if (file.isFile() && file.nlink === 0) throw new Error('the file has no name any more')
  const bytes = Buffer.alloc(LINE)
  readSync(fd, bytes, 0, LINE, at)
  expect('the mark', mark, bytes.toString('latin1'))
  if (token === undefined) return
  writeSync(fd, token, at + PAGE)
  fsyncSync(fd)
  readSync(fd, bytes, 0, LINE, at + PAGE)
  expect('what was written', token, bytes.toString('latin1'))
}

/** By a descriptor that no other thread has. */
function inThread(): Check {
  const signal = new Int32Array(new SharedArrayBuffer(4))
  const wrong = new MessageChannel()
  const given = new MessageChannel()
  const code = `const { dlopen } = require('node:ffi')
const fs = require('node:fs')
const { workerData: { signal, path, mark, at, wrong, given }, receiveMessageOnPort } = require('node:worker_threads')
dlopen(null, { unshare: { arguments: ['i32'], return: 'i32' } }).functions.unshare(${CLONE_FILES})
const fd = fs.openSync(path, 'r+')
const at_ = (text, from) => {
  const bytes = Buffer.alloc(${LINE})
  fs.readSync(fd, bytes, 0, ${LINE}, from)
  return bytes.toString('latin1') === text
}
for (;;) {
  Atomics.store(signal, 0, 1)
  Atomics.notify(signal, 0)
  Atomics.wait(signal, 0, 1)
  const token = receiveMessageOnPort(given)?.message
  let said = at_(mark, at) ? '' : 'the mark is not there'
  try {
    fs.writeSync(fd, token, at + ${PAGE})
    fs.fsyncSync(fd)
    if (!at_(token, at + ${PAGE})) said ||= 'what was written is not there'
  } catch (error) { said = error.message }
  wrong.postMessage(said)
}`
  const workerData = { signal, path, mark, at, wrong: wrong.port2, given: given.port2 }
  const transferList = [wrong.port2, given.port2]
  const worker = new Worker(code, { eval: true, workerData, transferList, execArgv: ['--experimental-ffi'] })
  worker.unref()
  Atomics.wait(signal, 0, 0)
  return (token) => {
    given.port1.postMessage(token)
    Atomics.store(signal, 0, 2)
    Atomics.notify(signal, 0)
    Atomics.wait(signal, 0, 2)
    const said = receiveMessageOnPort(wrong.port1)?.message
    if (said !== '') throw new Error(said)
  }
}

function inMemory(): Check {
  const { functions } = dlopen(null, {
    mmap: { arguments: ['u64', 'u64', 'i32', 'i32', 'i32', 'i64'], return: 'u64' },
    memcpy: { arguments: ['u64', 'buffer', 'u64'], return: 'u64' },
    msync: { arguments: ['u64', 'u64', 'i32'], return: 'i32' },
  })
  const [readAndWrite, shared, sync] = [3, 1, 4]
  const size = BigInt(2 * PAGE)
  const fd = openSync(path, 'r+')
  const address = functions.mmap(0n, size, readAndWrite, shared, fd, BigInt(at)) as bigint
  closeSync(fd)
  if (address === 2n ** 64n - 1n) throw new Error(`${path} could not be mapped`)
  const memory = (from: number): string => Buffer.from(toBuffer(address + BigInt(from), LINE, true)).toString('latin1')
  memory(0)
  return (token) => {
    const [line = ''] =
      readFileSync('/proc/self/maps', 'utf8')
        .split('\n')
        .filter((each) => each.startsWith(address.toString(16))) ?? []
    if (line === '' || line.endsWith(' (deleted)')) throw new Error('the file has no name any more')
    expect('the mark', mark, memory(0))
    functions.memcpy(address + BigInt(PAGE), Buffer.from(token, 'latin1'), BigInt(token.length))
    if (functions.msync(address, size, sync) !== 0) throw new Error('msync failed')
    expect('what was written', token, memory(PAGE))
  }
}

function expect(what: string, wanted: string, found: string): void {
  if (found !== wanted) throw new Error(`${what} is not there`)
}
