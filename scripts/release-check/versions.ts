/** The version stands in package.json; everywhere else it is repeated. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Finding } from './finding.ts'

/** Of an artifact or image of volctl, in a text: volctl-0.1.0-linux-x64, volctl:0.1.0, volctl@0.1.0, "volctl 0.1.0". */
const OF_VOLCTL = /\bvolctl(?:[:@ -]v?|\/v)(\d+\.\d+\.\d+)\b/g

/** @returns texts that name another version, one finding a line */
export function otherVersions(root: string, version: string): readonly Finding[] {
  return [...lockFile(root, version), ...billOfMaterials(root, version), ...texts(root).flatMap(inText)]

  function inText(path: string): readonly Finding[] {
    const lines = readFileSync(join(root, path), 'utf8').split('\n')
    return lines.flatMap((line, at) =>
      [...line.matchAll(OF_VOLCTL)]
        .filter(([, found]) => found !== version)
        .map(([, found]) => ({ what: `${path}:${at + 1} says ${found}, not ${version}`, next: mendOf(path, version) })),
    )
  }
}

function mendOf(path: string, version: string): string {
  return path.startsWith('man/') ? 'npm run man' : `write ${version} there`
}

/** Manual pages, how to install, and what is applied to a cluster. */
function texts(root: string): readonly string[] {
  const below = (folder: string, ending: RegExp): string[] =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => ending.test(name))
      .toSorted()
      .map((name) => `${folder}/${name}`)
  return [
    'README.md',
    'docs/install.md',
    'docs/pods.md',
    'docs/dev/release.md',
    ...below('man', /^[^/]+\.[78]$/),
    ...below('deploy', /\.(ya?ml|json|md)$/),
  ]
}

function lockFile(root: string, version: string): readonly Finding[] {
  const { version: top, packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const other = [top, packages[''].version].find((found) => found !== version)
  if (other === undefined) return []
  return [{ what: `package-lock.json says ${other}, not ${version}`, next: 'npm install --package-lock-only' }]
}

function billOfMaterials(root: string, version: string): readonly Finding[] {
  const { version: found } = JSON.parse(readFileSync(join(root, 'sbom.cdx.json'), 'utf8')).metadata.component
  if (found === version) return []
  return [{ what: `sbom.cdx.json says ${found}, not ${version}`, next: 'npm run licenses' }]
}

/** @param before the version of the last tag */
export function notHigher(version: string, before: string): readonly Finding[] {
  if (compare(version, before) > 0) return []
  const what = `package.json says ${version}, which is not higher than the last tag's ${before}`
  return [{ what, next: 'npm version --no-git-tag-version minor, or patch' }]
}

function compare(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split('.').map(Number))
  const at = left?.findIndex((part, index) => part !== right?.[index]) ?? -1
  return at < 0 ? 0 : (left?.[at] ?? 0) - (right?.[at] ?? 0)
}
