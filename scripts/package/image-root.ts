/**
 * The root directory of an image: volctl, glibc, and nsenter(1) with what it is linked with. Nothing else is run in it, since
 * volctl enters the node's mount namespace and runs the node's programs there. No shell; Node.js has the certificates of
 * public authorities inside.
 */
import { chmodSync, mkdirSync, readdirSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { Arch } from './debian-libraries.ts'
import { imageParts, nodeLibraries } from './fetched.ts'
import { DOCUMENTS, put, root, setModes } from './tree.ts'

/** What a container's programs expect, though empty: the runtime mounts over most of them. */
const DIRECTORIES: Readonly<Record<string, number>> = {
  dev: 0o755,
  host: 0o755,
  proc: 0o555,
  root: 0o700,
  sys: 0o555,
  tmp: 0o1777,
}
const FILES: Readonly<Record<string, string>> = {
  // HOME of a container's process comes from here.
  passwd: 'root:x:0:0:root:/root:/usr/sbin/nologin\n',
  group: 'root:x:0:\n',
  'nsswitch.conf': 'hosts: files dns\n',
}

/** @param to an empty directory; @param executable for that machine */
export async function writeImageRoot(to: string, arch: Arch, executable: string): Promise<void> {
  put(to, 'usr/bin/volctl', executable, 0o755)
  for (const { file, path } of await nodeLibraries(arch)) put(to, `usr/lib/volctl/${file}`, path)
  for (const name of DOCUMENTS) put(to, `usr/share/doc/volctl/${name}`, join(root, name))
  for (const { name, folder, files } of await imageParts(arch)) {
    copyFiles(folder, to, files)
    put(to, `usr/share/doc/${name}/copyright`, join(folder, 'usr/share/doc', name, 'copyright'))
  }
  mkdirSync(join(to, 'etc'))
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(to, 'etc', name), text)
  for (const name of Object.keys(DIRECTORIES)) mkdirSync(join(to, name))
  setModes(to)
  for (const [name, mode] of Object.entries(DIRECTORIES)) chmodSync(join(to, name), mode)
}

/** Files and links of a package, at their places. Of its files only programs can be run; the loader is one. */
function copyFiles(folder: string, to: string, files: RegExp): void {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const from = join(entry.parentPath, entry.name)
    const path = relative(folder, from)
    if (entry.isDirectory() || !files.test(path)) continue
    mkdirSync(dirname(join(to, path)), { recursive: true })
    if (entry.isSymbolicLink()) symlinkSync(readlinkSync(from), join(to, path))
    else put(to, path, from, /\/bin\/|\/ld-[^/]*$/.test(path) ? 0o755 : 0o644)
  }
}
