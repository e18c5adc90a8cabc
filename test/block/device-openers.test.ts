/** Who has a device open, in a fabricated /proc: descriptors are links to real devices. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs'
import { beforeEach, expect, it } from 'vitest'
import { openersOf } from '../../src/core/block/device-openers.ts'
import { parseMountinfo } from '../../src/core/mountinfo/parse-mountinfo.ts'
import { readOtherNamespaces } from '../../src/core/processes/mount-namespaces.ts'
import { temporaryDirectory } from '../apply/temporary-directory.ts'

const NULL = 'char 1:3'
const OURS = 'mnt:[1]'
const TABLE = '1 1 0:5 / / rw - tmpfs tmpfs rw\n'

let proc: string
beforeEach(() => {
  proc = temporaryDirectory()
  namespace('self', OURS)
})

function namespace(at: string, name: string): void {
  mkdirSync(`${proc}/${at}/ns`, { recursive: true })
  symlinkSync(name, `${proc}/${at}/ns/mnt`)
}

/** A thread; without files: it has ended, and is still listed. */
function task(pid: number, tid: number, files?: Record<number, string>): void {
  const at = `${pid}/task/${tid}`
  mkdirSync(`${proc}/${at}`, { recursive: true })
  writeFileSync(`${proc}/${pid}/comm`, `process${pid}\n`)
  if (files === undefined) return
  namespace(at, OURS)
  mkdirSync(`${proc}/${at}/fd`)
  for (const [fd, file] of Object.entries(files)) symlinkSync(file, `${proc}/${at}/fd/${fd}`)
}

const look = () => openersOf(new Set([NULL]), parseMountinfo(TABLE), [], proc)

it('a process is an opener also when its first thread has ended', () => {
  task(5, 5)
  task(5, 6, { 3: '/dev/null' })
  task(7, 7, { 3: '/dev/zero', 4: '/nonexistent' })
  expect(look()).toEqual([{ pid: 5, process: 'process5', dev: NULL }])
})

it('a thread with files of its own is an opener', () => {
  task(5, 5, {})
  task(5, 6, { 3: '/dev/null' })
  expect(look()).toMatchObject([{ pid: 5 }])
})

it('what cannot be read is no proof that nobody has it open (S3)', () => {
  task(5, 5)
  writeFileSync(`${proc}/5/task/5/fd`, '')
  expect(look).toThrow('ENOTDIR')
})

it('a process that ended is none', () => {
  mkdirSync(`${proc}/9`)
  expect(look()).toEqual([])
})

it('the namespace of a thread is another’s too', () => {
  task(5, 5)
  mkdirSync(`${proc}/5/task/6`)
  // As /proc answers to the number of a thread.
  namespace('6', 'mnt:[2]')
  writeFileSync(`${proc}/6/mountinfo`, TABLE)
  expect(readOtherNamespaces(true, proc)).toMatchObject([{ pid: 6 }])
})

it('a process that has something open whose path is too long to be told holds nothing up, and is seen', async () => {
  const name = '0'.repeat(250)
  const down = `i=0; while [ $i -lt 20 ]; do mkdir ${name}; cd -P ${name} 2>/dev/null; i=$((i+1)); done`
  const script = `cd ${temporaryDirectory()}; ${down}; : > file; exec 8<file 9</dev/null; cd /; echo ready; read end`
  const child = spawn('sh', ['-c', script], { stdio: ['pipe', 'pipe', 'ignore'] })
  try {
    await once(child.stdout, 'data')
    expect(() => readlinkSync(`/proc/${child.pid}/fd/8`)).toThrow('ENAMETOOLONG')
    const found = openersOf(new Set([NULL]), parseMountinfo(readFileSync('/proc/self/mountinfo')), [])
    expect(found).toContainEqual({ pid: child.pid, process: 'sh', dev: NULL })
  } finally {
    child.stdin.end()
    await once(child, 'close')
  }
})
