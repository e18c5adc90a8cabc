/**
 * Makes a layout in the mount namespace that it was started in, and keeps the namespace alive: when the program ends, every
 * mount is removed.
 *
 *   unshare -m --propagation private node private-node.ts LAYOUT.json
 *
 * For each line on standard input it makes the missing parts of the layout, and answers with a line.
 */

import { dlopen, getInt32 } from 'node:ffi'
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { LayoutBuilder } from './scene.ts'

/** mount(2), called directly: mount(8) for each of 99,000 mounts would take minutes. */
const { functions: libc } = dlopen('libc.so.6', {
  mount: { arguments: ['string', 'string', 'string', 'uint64', 'string'], return: 'int32' },
  __errno_location: { arguments: [], return: 'pointer' },
})

function make({ rootDir, directories, mounts, files, links }: LayoutBuilder): void {
  const path = (relative: string): string => join(rootDir, relative)
  const present = new Set(mountPoints())
  const mount = (at: string): void => {
    if (!present.has(at) && libc.mount('tmpfs', at, 'tmpfs', 0n, 'mode=755') !== 0)
      throw new Error(`mount ${at}: errno ${getInt32(libc.__errno_location())}`)
  }
  mount(rootDir)
  for (const directory of directories) mkdirSync(path(directory), { recursive: true })
  for (const each of mounts) mount(path(each))
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(dirname(path(file)), { recursive: true })
    writeFileSync(path(file), content)
  }
  for (const [link, target] of Object.entries(links)) {
    rmSync(path(link), { force: true })
    symlinkSync(target, path(link))
  }
}

function mountPoints(): string[] {
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .flatMap((line) => line.split(' ')[4] ?? [])
}

const layout = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as LayoutBuilder
for await (const _ of createInterface({ input: process.stdin })) {
  make(layout)
  process.stdout.write('made\n')
}
