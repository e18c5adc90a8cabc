/** S33: only root's files are obeyed. Real files of another user, links, FIFOs, devices and hard links. */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  closeSync,
  lchownSync,
  linkSync,
  mkdirSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { expect, it } from 'vitest'
import {
  checkTrusted,
  NotAFile,
  NotTrusted,
  openDirectoryOf,
  openTrustedDirectory,
  readTrustedText,
  trustedTextIfAny,
} from '../../src/core/trust/files.ts'
import { TooLarge } from '../../src/core/trust/plain-files.ts'
import { noRoot } from '../helpers/namespace.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { describeUnless } from '../privileged/describe-unless.ts'

const NOBODY = 65534
const root = temporaryDirectory()

let made = 0
/** A new directory of root's, with a file `f` in it. */
function place(): string {
  const directory = join(root, String(made++))
  mkdirSync(directory, { mode: 0o755 })
  writeFileSync(join(directory, 'f'), 'content', { mode: 0o644 })
  return directory
}

interface Case {
  readonly name: string
  /** In its place; it is then obeyed, or not. */
  readonly path: string
  readonly make?: (at: string) => void
  /** What is said of it; undefined: it is obeyed. */
  readonly why?: RegExp
}

const CASES: readonly Case[] = [
  { name: "root's own file", path: 'f' },
  {
    name: 'a link of root to it',
    path: 'l',
    make: (at) => symlinkSync(`../${basename(at)}/f`, join(at, 'l')),
  },
  {
    name: 'a file of another user',
    path: 'f',
    make: (at) => chownSync(join(at, 'f'), NOBODY, NOBODY),
    why: /\/f belongs to uid 65534$/,
  },
  {
    name: 'a file that a group may write',
    path: 'f',
    make: (at) => chmodSync(join(at, 'f'), 0o664),
    why: /\/f can be written by others$/,
  },
  {
    name: 'a directory above that others may write',
    path: 'd/e/f',
    make: (at) => {
      mkdirSync(join(at, 'd/e'), { recursive: true })
      writeFileSync(join(at, 'd/e/f'), '')
      chmodSync(join(at, 'd'), 0o777)
    },
    why: /\/d can be written by others$/,
  },
  { name: "root's file in a directory such as /tmp", path: 'f', make: (at) => chmodSync(at, 0o1777) },
  {
    name: "another user's file in a directory such as /tmp",
    path: 'f',
    make: (at) => {
      chmodSync(at, 0o1777)
      chownSync(join(at, 'f'), NOBODY, NOBODY)
    },
    why: /\/f belongs to uid 65534$/,
  },
  {
    name: "a second name of root's file in a directory such as /tmp",
    path: 'tmp/f',
    make: (at) => {
      mkdirSync(join(at, 'tmp'))
      chmodSync(join(at, 'tmp'), 0o1777)
      linkSync(join(at, 'f'), join(at, 'tmp/f'))
    },
    why: /hard link/,
  },
  {
    name: "another user's link to root's file",
    path: 'l',
    make: (at) => {
      chmodSync(at, 0o1777)
      symlinkSync(join(at, 'f'), join(at, 'l'))
      lchownSync(join(at, 'l'), NOBODY, NOBODY)
    },
    why: /\/l is a link of uid 65534$/,
  },
  {
    name: "root's link into another user's directory",
    path: 'l',
    make: (at) => {
      mkdirSync(join(at, 'theirs'))
      writeFileSync(join(at, 'theirs/f'), '')
      chownSync(join(at, 'theirs'), NOBODY, NOBODY)
      symlinkSync('theirs/f', join(at, 'l'))
    },
    why: /\/theirs belongs to uid 65534$/,
  },
]

describeUnless(noRoot, 'S33: what is obeyed', () => {
  it.each(CASES)('$name', ({ path: name, make, why }) => {
    const at = place()
    make?.(at)
    const path = join(at, name)
    if (why === undefined) expect(readTrustedText(path)).toBe('content')
    else expect(() => readTrustedText(path)).toThrow(why)
    // A program is judged as a file is.
    if (why === undefined) expect(checkTrusted(path).isFile()).toBe(true)
    else expect(() => checkTrusted(path)).toThrow(NotTrusted)
  })

  it('never opens a FIFO, a device or a directory', () => {
    const at = place()
    execFileSync('mkfifo', ['-m', '600', join(at, 'fifo')])
    execFileSync('mknod', ['-m', '600', join(at, 'zero'), 'c', '1', '5'])
    expect(() => readTrustedText(join(at, 'fifo'))).toThrow(NotAFile)
    expect(() => readTrustedText(join(at, 'zero'))).toThrow(/zero is a device/)
    expect(() => readTrustedText(at)).toThrow(/is a directory/)
  })

  it('reads no more than it is told to', () => {
    const at = place()
    execFileSync('truncate', ['-s', '10G', join(at, 'f')])
    expect(() => readTrustedText(join(at, 'f'))).toThrow(TooLarge)
    expect(() => readTrustedText('/proc/kallsyms', 100)).toThrow(TooLarge)
  })

  it("takes a directory of root's, and no other", () => {
    const at = place()
    const fd = openTrustedDirectory(at)
    expect(readlinkSync(`/proc/self/fd/${fd}`)).toBe(at)
    closeSync(fd)
    expect(() => openTrustedDirectory(join(at, 'f'))).toThrow(NotAFile)
    chmodSync(at, 0o775)
    expect(() => openTrustedDirectory(at)).toThrow(NotTrusted)
  })

  it("follows a path from another process's root directory", () => {
    expect(readTrustedText(`/proc/${process.pid}/root${join(place(), 'f')}`)).toBe('content')
  })

  it("writes for a person in anybody's directory, but through nobody else's link", () => {
    const at = place()
    mkdirSync(join(at, 'theirs/real'), { recursive: true })
    symlinkSync(at, join(at, 'theirs/link'))
    for (const name of ['theirs', 'theirs/real']) chownSync(join(at, name), NOBODY, NOBODY)
    const { fd, name } = openDirectoryOf(join(at, 'theirs/real/x'))
    expect([readlinkSync(`/proc/self/fd/${fd}`), name]).toEqual([join(at, 'theirs/real'), 'x'])
    closeSync(fd)
    expect(() => openDirectoryOf(join(at, 'theirs/link/x'))).toThrow(NotTrusted)
  })
})

it('says of a file that need not be there how it stands', () => {
  const at = place()
  expect(trustedTextIfAny(join(at, 'f'))).toEqual({ text: 'content' })
  expect(trustedTextIfAny(join(at, 'none/f'))).toEqual({})
  expect(trustedTextIfAny(at)).toEqual({ unusable: `${at} is a directory` })
})

it('leaves no descriptor behind', () => {
  const at = place()
  const open = (): number => Number(execFileSync('sh', ['-c', `ls /proc/${process.pid}/fd | wc -l`]).toString())
  const before = open()
  for (let i = 0; i < 50; i++) {
    readTrustedText(join(at, 'f'))
    trustedTextIfAny(join(at, 'none'))
    expect(() => readTrustedText(at)).toThrow()
  }
  expect(open()).toBeLessThan(before + 10)
})
