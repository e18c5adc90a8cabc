/** Reads one large thing, and says what it found. */
import { closeSync, openSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { deleteContent } from '../../src/core/linux/delete-content.ts'
import { parseMountinfo } from '../../src/core/linux/parse-mountinfo.ts'
import { walkContent } from '../../src/core/node/tree/pod-directory.ts'
import { TreeWalk } from '../../src/core/node/tree/tree-walk.ts'
import { kernelText, mountIdIn } from '../../src/core/trust/kernel.ts'
import { visitContent } from '../../src/core/users/content-holders.ts'
import { ListedEntry } from '../../src/core/volumes/on-disk/tree.ts'

const READ: Readonly<Record<string, (path: string) => unknown>> = {
  /** As a plan lists it. */
  listed: (path) => {
    const top = new ListedEntry('.', basename(path), 'dir')
    const walk = new TreeWalk(dirname(path), parseMountinfo(''), { links: [], unknown: new Map() })
    walkContent(walk, top)
    return [walk.entries().length, top.error]
  },

  /** As users are searched for who are known by an inode, and as it is deleted. */
  searched: async (path) => {
    const found: string[] = []
    await visitContent(path, mountOf(path), (file) => void (file.ino === 1 && found.push('found')))
    return found
  },
  deleted: async (path) => (await deleteContent(path, { mountId: mountOf(path) })).files,
}

function mountOf(path: string): number {
  const fd = openSync(path, 'r')
  try {
    return mountIdIn(kernelText(`/proc/self/fdinfo/${fd}`)) ?? -1
  } finally {
    closeSync(fd)
  }
}

const [what = '', path = ''] = process.argv.slice(2)
const found = await READ[what]?.(path)
console.log(JSON.stringify({ found }))
