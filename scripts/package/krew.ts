/** The manifest of the kubectl plugin for krew: deploy/krew/volctl.yaml with the version and the sums of the tarballs. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Arch } from './debian-libraries.ts'

const TEMPLATE = join(import.meta.dirname, '..', '..', 'deploy', 'krew', 'volctl.yaml')

/** @param sums SHA-256 of each tarball, in hexadecimal. @throws Error for anything else */
export function krewManifest(version: string, sums: Readonly<Record<Arch, string>>): string {
  const wrong = Object.values(sums).find((sum) => !/^[0-9a-f]{64}$/.test(sum))
  if (wrong !== undefined) throw new Error(`not a SHA-256: ${wrong}`)
  // What stands above the document says how to make it.
  const text = readFileSync(TEMPLATE, 'utf8').replaceAll(/^#.*\n/gm, '')
  return text.replaceAll('SHA256_X64', sums.x64).replaceAll('SHA256_ARM64', sums.arm64).replaceAll('VERSION', version)
}
