/**
 * Says what stands between this working tree and a release, one line each with what to do next; exit status 1 if anything
 * does. Compares with the last tag, where there is one. Changes nothing.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { names, newestSection, type Section, wrongHeading } from './release-check/change-log.ts'
import type { Finding } from './release-check/finding.ts'
import { notCurrent } from './release-check/generated.ts'
import { brokenPromises, type Files } from './release-check/interfaces.ts'
import { lastTag, namesAt, nothingNew, textAt, uncommitted } from './release-check/repository.ts'
import { notHigher, otherVersions } from './release-check/versions.ts'

const PROMISES = ['man', 'schema'] as const
const isPromise = (path: string): boolean => /\.(schema\.json|[78])$/.test(path)

/** @param today as 2026-11-22 */
async function findings(root: string, tag: string | undefined, today: string): Promise<readonly Finding[]> {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const section = newestSection(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'))
  return [
    ...uncommitted(root),
    ...(tag === undefined ? [] : sinceTag(root, tag, version, section)),
    ...wrongHeading(section, version, today),
    ...otherVersions(root, version),
    ...(await notCurrent(root)),
  ]
}

function sinceTag(root: string, tag: string, version: string, section: Section | undefined): readonly Finding[] {
  const before = JSON.parse(textAt(root, tag, 'package.json') ?? '{}').version ?? tag.slice(1)
  const unnamed = brokenPromises(filesAt(root, tag), filesNow(root)).filter(
    ({ word }) => !names(section, version, word),
  )
  return [
    ...nothingNew(root, tag),
    ...notHigher(version, before),
    ...unnamed.map(({ what, word }) => ({ what, next: `name "${word}" in CHANGELOG.md, below ${version}` })),
  ]
}

function filesAt(root: string, tag: string): Files {
  const paths = PROMISES.flatMap((folder) => namesAt(root, tag, folder)).filter(isPromise)
  return new Map(paths.map((path) => [path, textAt(root, tag, path) ?? '']))
}

function filesNow(root: string): Files {
  const paths = PROMISES.flatMap((folder) => readdirSync(join(root, folder)).map((name) => `${folder}/${name}`))
  return new Map(paths.filter(isPromise).map((path) => [path, readFileSync(join(root, path), 'utf8')]))
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..')
  const tag = lastTag(root)
  console.log(tag === undefined ? 'No release is tagged yet: nothing to compare with.' : `Compared with ${tag}.`)
  const found = await findings(root, tag, new Date().toISOString().slice(0, 10))
  for (const { what, next } of found) console.log(`- ${what}. Next: ${next}`)
  if (found.length === 0) console.log('Nothing stands in the way of a release.')
  else process.exitCode = 1
}
