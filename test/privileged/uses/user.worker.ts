/**
 * Somebody who uses a volume, in one way, as a process: says "ready", and, asked by a line on its standard input, writes
 * that line through its use, reads it and the mark back, and says in a line what was wrong (empty: nothing). It ends with
 * its standard input.
 */

import { dlopen, toBuffer } from 'node:ffi'
import { closeSync, fstatSync, fsyncSync, openSync, readFileSync, readSync, writeFileSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { changeRoot } from '../../helpers/system-calls.ts'
import { type Held, LINE, PAGE } from './held.ts'

type Check = (token: string) => void

const { how, path, mark, at = 0 } = JSON.parse(process.argv[2] ?? '{}') as Held

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
}

const check = CHECKS[how]()
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
  if (fstatSync(fd).nlink === 0) throw new Error('the file has no name any more')
  const bytes = Buffer.alloc(LINE)
  readSync(fd, bytes, 0, LINE, at)
  expect('the mark', mark, bytes.toString('latin1'))
  if (token === undefined) return
  writeSync(fd, token, at + PAGE)
  fsyncSync(fd)
  readSync(fd, bytes, 0, LINE, at + PAGE)
  expect('what was written', token, bytes.toString('latin1'))
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
