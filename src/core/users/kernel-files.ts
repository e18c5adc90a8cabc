/** Files that the kernel itself uses, and directories that it exports: loop devices, swap areas, NFS exports (S12). */
import { realpathSync } from 'node:fs'
import { errorMessage, isMissing } from '../base/errors.ts'
import { readLoops, swapAreas } from '../linux/block/device-use.ts'
import type { Unseen } from '../linux/mount-namespaces.ts'
import { EXPORTS_BYTES, SCAN_MS } from '../linux/scan-limits.ts'
import { decodeOctal, kernelText } from '../trust/kernel.ts'
import { readPlain } from '../trust/plain-files.ts'
import { runCommand } from '../trust/programs.ts'

export interface LoopFile {
  readonly device: string
  /** As the kernel names it: from the root of the mount namespace in which it was opened. */
  readonly backingFile: string
  /** Identifies the file; absent: losetup(8) does not show it. */
  readonly file?: { readonly dev: string; readonly inode: number }
}

const LOSETUP = ['--list', '--noheadings', '--raw', '--output', 'NAME,BACK-INO,BACK-MAJ:MIN']

interface Files<T> {
  readonly files: readonly T[]
  /** What the kernel, or losetup(8), did not say: any file may be one then. */
  readonly unseen: readonly Unseen[]
}

/** Where there is no loop device, losetup(8) is not asked. */
export async function loopFiles(loops: readonly LoopFile[] = readLoops(), run = runCommand): Promise<Files<LoopFile>> {
  if (loops.length === 0) return { files: loops, unseen: [] }
  try {
    const inodes = loopInodes(await losetup(run))
    const files = loops.map((loop) => ({ ...loop, file: inodes.get(loop.device) }))
    return { files, unseen: [] }
  } catch (error) {
    return {
      files: loops,
      unseen: [unread('the files of loop devices', error, 'See what losetup --list says, or does not.')],
    }
  }
}

async function losetup(run: typeof runCommand): Promise<string> {
  const { status, stdout, timedOut } = await run('losetup', LOSETUP, SCAN_MS.losetup)
  if (timedOut) throw new Error(`losetup did not end within ${SCAN_MS.losetup / 1000} s`)
  if (status !== 0) throw new Error(`losetup ended with ${status}`)
  return stdout
}

/** Fields are right-aligned with blanks, which the raw format escapes. */
export function loopInodes(text: string): Map<string, LoopFile['file']> {
  const lines = text.split('\n').map((line) => line.replaceAll('\\x20', ' ').trim().split(/ +/))
  return new Map(
    lines.flatMap(([device = '', inode = '', dev = '']) =>
      /^\d+$/.test(inode) && /^\d+:\d+$/.test(dev) ? [[device, { dev, inode: Number(inode) }] as const] : [],
    ),
  )
}

/**
 * As the kernel names them: from the root of the mount namespace in which they were opened. No partitions. A kernel without swap has
 * no such list.
 */
export function swapFiles(list = '/proc/swaps'): Files<string> {
  try {
    const areas = swapAreas(kernelText(list)).filter(({ type }) => type === 'file')
    return { files: areas.map(({ name }) => name), unseen: [] }
  } catch (error) {
    if (isMissing(error)) return { files: [], unseen: [] }
    return { files: [], unseen: [unread(`the swap files in ${list}`, error, `See what is wrong with ${list}.`)] }
  }
}

export interface Export {
  /** As the exporting process sees it. */
  readonly path: string
  readonly client: string
  /** Clients see what is mounted below it as well (crossmnt). */
  readonly crosses: boolean
}

/** What exportfs(8) has exported, and what clients have asked the kernel for. */
const TABLES = ['/var/lib/nfs/etab', '/proc/fs/nfsd/exports']

/** Where there is no NFS server there are no tables. */
export function nfsExports(tables: readonly string[] = TABLES): Files<Export> {
  const files: Export[] = []
  const unseen: Unseen[] = []
  for (const file of tables) {
    try {
      for (const each of parseExports(textOf(file))) files.push(each)
    } catch (error) {
      if (isMissing(error)) continue
      const hint = `See what is wrong with ${file}; if nothing is exported, stop the NFS server.`
      unseen.push(unread(`the NFS exports in ${file}`, error, hint))
    }
  }
  return { files, unseen }
}

/** `/path<tab>client(option,option)`, a line each; blanks in a path are octal. */
export function parseExports(text: string): Export[] {
  return text.split('\n').flatMap((line) => {
    const [path = '', client = ''] = line.split(/[ \t]+/)
    if (!path.startsWith('/')) return []
    const crosses = /[(,](?:crossmnt|nohide)[,)]/.test(client)
    return [{ path: decodeOctal(path), client: client.replace(/\(.*/, ''), crosses }]
  })
}

function unread(what: string, error: unknown, hint: string): Unseen {
  return { text: `${what} could not be read: ${errorMessage(error)}`, hint }
}

/** Through a link too: exportfs(8) reads and writes through it. */
function textOf(path: string): string {
  return path.startsWith('/proc/') ? kernelText(path) : readPlain(realpathSync(path), EXPORTS_BYTES).toString('utf8')
}
