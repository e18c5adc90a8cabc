import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'

interface LoopDevice {
  readonly name: string
  readonly backingFile: string
  readonly backingInode: string
}

/** Loop devices are the machine's, not the mount namespace's: none may be left. */
export function detachLoops(...directories: readonly string[]): void {
  const all = loopDevices()
  const own = all.filter(({ backingFile }) => directories.some((directory) => backingFile.startsWith(`${directory}/`)))
  // What keeps a block volume open sits on another loop device; once its mount is gone its file has no name.
  const inodes = new Set(own.map(({ name }) => String(statSync(name).ino)))
  const upper = all.filter(
    ({ backingFile, backingInode }) =>
      (backingFile === '/' || backingFile.startsWith('/dev/')) && inodes.has(backingInode),
  )
  for (const { name } of [...upper, ...own]) execFileSync('losetup', ['--detach', name])
}

function loopDevices(): readonly LoopDevice[] {
  const columns = 'NAME,BACK-INO,BACK-FILE'
  const text = execFileSync('losetup', ['--noheadings', '--raw', '--output', columns, '--list'], { encoding: 'utf8' })
  return text.split('\n').flatMap((line) => {
    const [name, backingInode = '', backingFile = ''] = line.split(' ')
    return name ? [{ name, backingInode, backingFile }] : []
  })
}
