/** The files of volctl below a prefix, as packages, tarball and image have them, what these say of volctl, and their archive. */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { constants, gzipSync } from 'node:zlib'
import pjson from '../../package.json' with { type: 'json' }
import type { Arch } from './debian-libraries.ts'
import { nodeLibraries } from './fetched.ts'
import { run } from './run.ts'

/** What packages say of volctl. */
export const about = {
  version: pjson.version,
  license: pjson.license,
  maintainer: 'The volctl authors <noreply@volctl.io>',
  summary: 'diagnose and repair the volumes of a Kubernetes node',
  description: [
    'volctl is the volume manager of the kubelet as a tool that runs once: it looks at',
    'a node, says what is mounted, wanted and left over, and carries that out if asked.',
  ],
} as const

/** A release is compressed as small as it gets; what a test makes not at all. */
export type Effort = 'small' | 'quick'

export const root = join(import.meta.dirname, '..', '..')
export const DOCUMENTS = ['LICENSE', 'THIRD_PARTY_LICENSES', 'sbom.cdx.json', 'CHANGELOG.md']
/** By the shell that `volctl completion` prints them for. */
const COMPLETIONS = {
  bash: 'share/bash-completion/completions/volctl',
  zsh: 'share/zsh/site-functions/_volctl',
  fish: 'share/fish/vendor_completions.d/volctl.fish',
} as const

export interface Contents {
  readonly arch: Arch
  readonly executable: string
  /** Where the tree will lie; what it has for monitors and systemd names volctl by its path. */
  readonly home: '/usr' | '/usr/local'
}

/** As the source has it in deploy. */
const INSTALLED = '/usr/local/bin/volctl'

/** Writes them, with the three libraries beside the executable. Modes are right; whoever packs says that root owns them. */
export async function writeTree(prefix: string, { arch, executable, home }: Contents): Promise<void> {
  put(prefix, 'bin/volctl', executable, 0o755)
  // A plugin of kubectl by this name.
  symlinkSync('volctl', join(prefix, 'bin', 'kubectl-volctl'))
  for (const { file, path } of await nodeLibraries(arch)) put(prefix, `lib/volctl/${file}`, path)
  for (const page of readdirSync(join(root, 'man')).filter((name) => /\.[78]$/.test(name)))
    put(prefix, `share/man/man${page.slice(-1)}/${page}`, join(root, 'man', page))
  for (const [shell, name] of Object.entries(COMPLETIONS)) {
    const text = run(join(root, 'bin', 'volctl'), ['completion', shell])
    mkdirSync(dirname(join(prefix, name)), { recursive: true })
    writeFileSync(join(prefix, name), text)
  }
  for (const name of DOCUMENTS) put(prefix, `share/doc/volctl/${name}`, join(root, name))
  for (const folder of ['deploy', 'schema'])
    cpSync(join(root, folder), join(prefix, 'share', 'doc', 'volctl', folder), { recursive: true })
  namePath(join(prefix, 'share/doc/volctl/deploy/node-problem-detector'), `${home}/bin/volctl`)
  setModes(prefix)
}

function namePath(folder: string, path: string): void {
  for (const name of readdirSync(folder)) {
    const file = join(folder, name)
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(INSTALLED, path))
  }
}

/** A file of that mode, wherever it comes from. @param name below the prefix */
export function put(prefix: string, name: string, from: string, mode = 0o644): void {
  const to = join(prefix, name)
  mkdirSync(dirname(to), { recursive: true })
  copyFileSync(from, to)
  chmodSync(to, mode)
}

/** Whatever umask they were made with: all may read them, and run what is a program. */
export function setModes(path: string): void {
  run('chmod', ['-R', 'u=rwX,go=rX', path])
}

/**
 * An archive with the same bytes for the same files: names in order, root's, of one date.
 *
 * @param names in `parent`: what stands at the top of the archive
 * @param date of every file, in seconds
 */
export function archiveOf(parent: string, names: readonly string[], date: number): Buffer {
  const owners = ['--owner=root:0', '--group=root:0', '--numeric-owner']
  const args = ['--sort=name', `--mtime=@${date}`, '--format=gnu', ...owners, '-C', parent, '-cf', '-', ...names]
  return execFileSync('tar', args, { maxBuffer: 1 << 30 })
}

/** As `gzip -n`: no name, no time. */
export function compressed(archive: Buffer, effort: Effort): Buffer {
  return gzipSync(archive, { level: effort === 'small' ? constants.Z_BEST_COMPRESSION : constants.Z_NO_COMPRESSION })
}
