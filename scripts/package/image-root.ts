/**
 * The root directory of an image: volctl, glibc, and nsenter(1) with what it is linked with. Nothing else is run in it, since
 * volctl enters the node's mount namespace and runs the node's programs there. No shell; Node.js has the certificates of
 * public authorities inside.
 */
import { chmodSync, mkdirSync, readdirSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { Arch } from './debian-libraries.ts'
import { imageParts, nodeLibraries } from './fetched.ts'
import { DOCUMENTS, put, root } from './tree.ts'

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
  'etc/passwd': 'root:x:0:0:root:/root:/usr/sbin/nologin\n',
  'etc/group': 'root:x:0:\n',
  'etc/nsswitch.conf': 'hosts: files dns\n',
}

/** @param to an empty directory; @param executable for that machine */
export async function writeImageRoot(to: string, arch: Arch, executable: string): Promise<void> {
  put(to, 'usr/bin/volctl', executable)
  for (const { file, path } of await nodeLibraries(arch)) put(to, `usr/lib/volctl/${file}`, path)
  for (const name of DOCUMENTS) put(to, `usr/share/doc/volctl/${name}`, join(root, name))
  for (const { name, folder, files } of await imageParts(arch)) {
    copyFiles(folder, to, files)
    put(to, `usr/share/doc/${name}/copyright`, join(folder, 'usr/share/doc', name, 'copyright'))
  }
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(to, name)), { recursive: true })
    writeFileSync(join(to, name), text)
  }
  for (const name of Object.keys(DIRECTORIES)) mkdirSync(join(to, name))
  setModes(to)
}

/** Files and links of a package, at their places. */
function copyFiles(folder: string, to: string, files: RegExp): void {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true }).filter((each) => !each.isDirectory())
  for (const entry of entries) {
    const from = join(entry.parentPath, entry.name)
    const path = relative(folder, from)
    if (!files.test(path)) continue
    if (!entry.isSymbolicLink()) {
      put(to, path, from)
      continue
    }
    mkdirSync(dirname(join(to, path)), { recursive: true })
    symlinkSync(readlinkSync(from), join(to, path))
  }
}

/** Whatever umask they were made with. The loader is a program as well: the kernel runs it. */
function setModes(to: string): void {
  for (const entry of readdirSync(to, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name)
    const isProgram = /\/bin\/|\/ld-[^/]*$/.test(path)
    if (!entry.isSymbolicLink()) chmodSync(path, entry.isDirectory() || isProgram ? 0o755 : 0o644)
  }
  for (const [name, mode] of Object.entries(DIRECTORIES)) chmodSync(join(to, name), mode)
  chmodSync(to, 0o755)
}
