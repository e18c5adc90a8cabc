/** The section of CHANGELOG.md about the version to be released. */
import type { Finding } from './finding.ts'

export interface Section {
  readonly version: string
  /** Such as 2026-11-22, or "unreleased". */
  readonly date: string
  readonly text: string
}

/** The uppermost; undefined: no heading is of the form `## 0.1.0 (2026-11-22)`. */
export function newestSection(changeLog: string): Section | undefined {
  const [, section = ''] = changeLog.split(/^## /m)
  const [, version, date] = /^(\S+) \(([^)]+)\)\n/.exec(section) ?? []
  return version === undefined || date === undefined ? undefined : { version, date, text: section }
}

/** @param today as 2026-11-22, for the next step */
export function wrongHeading(section: Section | undefined, version: string, today: string): readonly Finding[] {
  const heading = `## ${version} (${today})`
  if (section?.version !== version) {
    const what = `CHANGELOG.md begins with ${section?.version ?? 'no version'}, package.json says ${version}`
    return [{ what, next: `begin it with "${heading}"` }]
  }
  if (/^\d{4}-\d\d-\d\d$/.test(section.date)) return []
  return [{ what: `CHANGELOG.md has no date for ${version}: (${section.date})`, next: `write "${heading}"` }]
}

/** Whether the section is of this version and has the word, not only as a part of a longer one. */
export function names(section: Section | undefined, version: string, word: string): boolean {
  if (section?.version !== version) return false
  const escaped = word.replaceAll(/[^\w-]/g, '\\$&')
  return new RegExp(`(?<![\\w-])${escaped}(?![\\w-])`).test(section.text)
}
