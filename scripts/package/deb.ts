/** A Debian package: the tree below /usr, and what it needs from the system. */
import { cpSync, mkdirSync, mkdtempSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DEBIAN_ARCH } from './debian-libraries.ts'
import { about, kibibytes, type Package } from './facts.ts'
import { run } from './run.ts'
import { COMPLETIONS, settle } from './tree.ts'

/** Debian's zsh looks there for what packages bring, and not where other distributions' does. */
const ZSH_COMPLETION = 'share/zsh/vendor-completions/_volctl'

/** @param prefix the tree of /usr */
export function writeDeb(prefix: string, { arch, version, date, effort, path }: Package): void {
  const work = mkdtempSync(join(tmpdir(), 'volctl-deb-'))
  try {
    cpSync(prefix, join(work, 'usr'), { recursive: true, verbatimSymlinks: true })
    // Debian reads a package's licence there.
    cpSync(join(prefix, 'share/doc/volctl/LICENSE'), join(work, 'usr/share/doc/volctl/copyright'))
    move(join(work, 'usr'), COMPLETIONS.zsh, ZSH_COMPLETION)
    mkdirSync(join(work, 'DEBIAN'))
    writeFileSync(join(work, 'DEBIAN', 'control'), control(version, DEBIAN_ARCH[arch], kibibytes(prefix)))
    settle(work, date)
    const compression = effort === 'small' ? ['-Zxz'] : ['-Znone']
    run('dpkg-deb', ['--root-owner-group', ...compression, '--build', work, path], {
      env: { SOURCE_DATE_EPOCH: String(date) },
    })
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** @param from both below the prefix; the directory is removed, which has nothing else */
function move(prefix: string, from: string, to: string): void {
  mkdirSync(dirname(join(prefix, to)), { recursive: true })
  renameSync(join(prefix, from), join(prefix, to))
  rmdirSync(dirname(join(prefix, from)))
}

/** @param size of the files, in KiB */
function control(version: string, architecture: string, size: number): string {
  return `${[
    `Package: volctl`,
    `Version: ${version}`,
    `Architecture: ${architecture}`,
    `Maintainer: ${about.maintainer}`,
    `Installed-Size: ${size}`,
    // What every Debian has: `dpkg -i` fetches nothing.
    `Depends: libc6 (>= 2.28), util-linux, mount`,
    `Section: admin`,
    `Priority: optional`,
    `Description: ${about.summary}`,
    ...about.description.map((line) => ` ${line}`),
  ].join('\n')}\n`
}
