/** A Debian package: the tree below /usr, and what it needs from the system. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Arch, DEBIAN_ARCH } from './debian-libraries.ts'
import { about, type Effort, kibibytes } from './facts.ts'
import { run } from './run.ts'
import { settle } from './tree.ts'

/** @param prefix the tree, without libraries */
export function writeDeb(prefix: string, arch: Arch, date: number, path: string, effort: Effort): void {
  const work = mkdtempSync(join(tmpdir(), 'volctl-deb-'))
  try {
    cpSync(prefix, join(work, 'usr'), { recursive: true, verbatimSymlinks: true })
    // Debian reads a package's licence there.
    cpSync(join(prefix, 'share/doc/volctl/LICENSE'), join(work, 'usr/share/doc/volctl/copyright'))
    mkdirSync(join(work, 'DEBIAN'))
    writeFileSync(join(work, 'DEBIAN', 'control'), control(arch, kibibytes(prefix)))
    settle(work, date)
    const compression = effort === 'small' ? ['-Zxz'] : ['-Zgzip', '-z1']
    run('dpkg-deb', ['--root-owner-group', ...compression, '--build', work, path], {
      env: { SOURCE_DATE_EPOCH: String(date) },
    })
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

function control(arch: Arch, size: number): string {
  return `${[
    `Package: volctl`,
    `Version: ${about.version}`,
    `Architecture: ${DEBIAN_ARCH[arch]}`,
    `Maintainer: ${about.maintainer}`,
    `Installed-Size: ${size}`,
    // What Node.js was linked with; libstdc++ of GCC 5 or newer.
    `Depends: libc6 (>= 2.28), libstdc++6 (>= 5), libgcc-s1 | libgcc1, libatomic1, util-linux, mount`,
    `Section: admin`,
    `Priority: optional`,
    `Description: ${about.summary}`,
    ...about.description.map((line) => ` ${line}`),
  ].join('\n')}\n`
}
