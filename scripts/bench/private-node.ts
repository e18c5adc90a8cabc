/**
 * Makes a layout in the mount namespace that it was started in, and keeps the namespace alive: when the program ends, every
 * mount is removed.
 *
 *   unshare -m --propagation private node private-node.ts LAYOUT.json
 *
 * For each line on standard input it makes the missing parts of the layout, and answers with a line.
 */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Layout } from './layout.ts'

/** Started as a separate program. */
export const PRIVATE_NODE = import.meta.filename

/** Imported only here: a file that imports this one for its name needs no FFI. */
async function make({ rootDir, directories, mounts, files, links }: Layout): Promise<void> {
  const { mountTmpfs } = await import('./mount-call.ts')
  const path = (relative: string): string => join(rootDir, relative)
  if (!isMounted(rootDir)) mountTmpfs(rootDir)
  for (const directory of directories) mkdirSync(path(directory), { recursive: true })
  const present = new Set(mountPoints())
  for (const mount of mounts) if (!present.has(path(mount))) mountTmpfs(path(mount))
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(dirname(path(file)), { recursive: true })
    writeFileSync(path(file), content)
  }
  for (const [link, target] of Object.entries(links)) {
    try {
      symlinkSync(target, path(link))
    } catch (error) {
      if ((error as { code?: string }).code !== 'EEXIST') throw error
    }
  }
}

function isMounted(path: string): boolean {
  return mountPoints().includes(path)
}

function mountPoints(): string[] {
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .flatMap((line) => line.split(' ')[4] ?? [])
}

if (import.meta.main) {
  const layout = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Layout
  for await (const _ of createInterface({ input: process.stdin })) {
    await make(layout)
    process.stdout.write('made\n')
  }
}
