/** A Debian package: the tree below /usr, and what it needs from the system. */
import { copyFileSync, mkdirSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DEBIAN_ARCH } from './debian-libraries.ts'
import { about, type Package } from './facts.ts'
import { run } from './run.ts'
import { setModes } from './tree.ts'

/** @param tree has usr; it becomes the package's own */
export function writeDeb(tree: string, { arch, version, date, effort, path }: Package): void {
  const share = join(tree, 'usr', 'share')
  // Debian reads a package's licence there.
  copyFileSync(join(share, 'doc/volctl/LICENSE'), join(share, 'doc/volctl/copyright'))
  // Debian's zsh looks there for what packages bring, and not where other distributions' does.
  renameSync(join(share, 'zsh/site-functions'), join(share, 'zsh/vendor-completions'))
  const files = readdirSync(tree, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile())
  const bytes = files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
  mkdirSync(join(tree, 'DEBIAN'))
  writeFileSync(join(tree, 'DEBIAN', 'control'), control(version, DEBIAN_ARCH[arch], bytes))
  setModes(tree)
  run('dpkg-deb', ['--root-owner-group', effort === 'small' ? '-Zxz' : '-Znone', '--build', tree, path], {
    env: { SOURCE_DATE_EPOCH: String(date) },
  })
}

/** It depends on what every Debian has: `dpkg -i` fetches nothing. @param bytes of all files */
function control(version: string, architecture: string, bytes: number): string {
  return `Package: volctl
Version: ${version}
Architecture: ${architecture}
Maintainer: ${about.maintainer}
Installed-Size: ${Math.ceil(bytes / 1024)}
Depends: libc6 (>= 2.28), util-linux, mount
Section: admin
Priority: optional
Description: ${about.summary}
${about.description.map((line) => ` ${line}\n`).join('')}`
}
