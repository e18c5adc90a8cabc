/** The manual pages: the commands' own help, and the hand-written sections in man/src/. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from '@oclif/core'
import pjson from '../../package.json' with { type: 'json' }
import { EXIT_MEANINGS } from '../../src/core/cli/exit-meanings.ts'
import { ALL_CODES, CODES, type Code, isCodeOf } from '../../src/core/codes/codes.ts'
import { parseRules } from '../../src/core/explain/rule-book.ts'
import { PLUGINS } from '../../src/core/plugins/registry.ts'
import { commandManifest } from '../manifest.ts'
import { ruleBooks } from '../rule-books.ts'
import { definition, escapeRoff, example, inline, readSections, section, table, tidied } from './roff.ts'
import { sharedEntries } from './shared-entries.ts'

const sources = join(import.meta.dirname, '..', '..', 'man', 'src')

/** Every page by its file name. */
export async function manualPages(): Promise<Map<string, string>> {
  const { commands } = await commandManifest()
  const pages = new Map([['volctl.8', mainPage(Object.values(commands))]])
  for (const command of Object.values(commands)) pages.set(`volctl-${command.id}.8`, commandPage(command))
  pages.set('volctl-codes.7', codesPage())
  pages.set('volctl-rules.7', rulesPage())
  return new Map([...pages].map(([name, page]) => [name, tidied(page)]))
}

function mainPage(commands: readonly Command.Cached[]): string {
  const written = sectionsOf('volctl')
  return [
    head('VOLCTL'),
    section('NAME', `volctl \\- ${inline(firstSentence(pjson.description))}\n`),
    section('SYNOPSIS', `.B volctl\n.I COMMAND\n[\\fIFLAGS\\fR]\n`),
    section('DESCRIPTION', written('DESCRIPTION')),
    section('COMMANDS', commands.map((each) => definition(pageName(each), each.summary ?? '')).join('')),
    section('OUTPUT', written('OUTPUT')),
    section('VOLUME PLUGINS', `${written('VOLUME PLUGINS')}${plugins()}`),
    section('REASONS AND CODES', written('REASONS AND CODES')),
    section('EXIT STATUS', `${written('EXIT STATUS')}${allExitStatuses()}`),
    ...['ENVIRONMENT', 'FILES', 'SAFETY', 'TRUSTED FILES AND PROCESSES', 'IN A CONTAINER', 'EXAMPLES'].map((title) =>
      section(title, written(title)),
    ),
    section(
      'SEE ALSO',
      `${commands.map(pageName).join(',\n')},\n.BR volctl\\-codes (7),\n.BR volctl\\-rules (7),\n${written('SEE ALSO')}`,
    ),
  ].join('')
}

/** Every code of the catalogue: reasons first, which are no trouble; the others by name, as a person looks them up. */
function codesPage(): string {
  const [reasons, others] = [true, false].map((wanted) =>
    ALL_CODES.filter((code) => isCodeOf('reason', code) === wanted),
  )
  const written = sectionsOf('codes')
  return [
    head('VOLCTL-CODES', 7, 'src/core/codes and man/src'),
    section('NAME', 'volctl\\-codes \\- the reasons and codes that volctl gives\n'),
    section('DESCRIPTION', written('DESCRIPTION')),
    section('REASONS OF OPERATIONS', (reasons ?? []).map(codeEntry).join('')),
    section('CODES', (others ?? []).toSorted().map(codeEntry).join('')),
    section('SEE ALSO', written('SEE ALSO')),
  ].join('')
}

/** Every rule that volctl cites, book by book. */
function rulesPage(): string {
  const books = [...ruleBooks()].map(([title, text]) => {
    const entries = parseRules(text).map(({ id, text: about, upstream }) =>
      definition(`\\fB${id}\\fR`, upstream === undefined ? about : `${about} Kubernetes: ${upstream}.`),
    )
    return `.SS ${escapeRoff(title)}\n${entries.join('')}`
  })
  const written = sectionsOf('rules')
  return [
    head('VOLCTL-RULES', 7, 'docs/rules and man/src'),
    section('NAME', 'volctl\\-rules \\- the rules that volctl follows and cites\n'),
    section('DESCRIPTION', written('DESCRIPTION')),
    section('RULES', books.join('')),
    section('SEE ALSO', written('SEE ALSO')),
  ].join('')
}

/** @throws Error where a section that every command has would be empty */
function commandPage(command: Command.Cached): string {
  const written = sectionsOf(command.id)
  const others = written('SEE ALSO')
  const shared = sharedEntries(sectionsOf('volctl'), command)
  const needed = (title: string, body: string): string => {
    if (body === '') throw new Error(`volctl-${command.id}(8) has no ${title}: see scripts/man/pages.ts`)
    return section(title, body)
  }
  const usage = [command.usage ?? command.id].flat().join(' ')
  return [
    head(`VOLCTL-${command.id.toUpperCase()}`),
    section('NAME', `volctl\\-${command.id} \\- ${inline(firstSentence(command.summary ?? ''))}\n`),
    section('SYNOPSIS', `.B volctl\n${escapeRoff(usage)}\n`),
    section('DESCRIPTION', `.PP\n${inline(command.description ?? '')}\n${written('DESCRIPTION')}`),
    section('OPTIONS', shownFlags(command).toSorted(byName).map(option).join('')),
    needed('EXIT STATUS', exitStatuses(command.id)),
    needed('ENVIRONMENT', `${written('ENVIRONMENT')}${shared.environment}`),
    needed('FILES', `${written('FILES')}${shared.files}`),
    needed('EXAMPLES', `${examples(command)}${written('EXAMPLES')}`),
    section('SEE ALSO', others === '' ? '.BR volctl (8)\n' : `.BR volctl (8),\n${others}`),
  ].join('')
}

/** As the help: without what only answers that it does not exist. */
function shownFlags({ flags }: Command.Cached): Command.Flag.Cached[] {
  return Object.values(flags).filter(({ hidden }) => hidden !== true)
}

const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1)

/** The version's date: a page changes only when its content changes. */
const DATE = '2026-11-22'

function head(title: string, chapter = 8, source = 'the commands and man/src'): string {
  return [
    // For man(1): the page has tables.
    `'\\" t`,
    `.\\" Generated by scripts/man.ts from ${source}: change those, then run npm run man.`,
    `.TH ${title} ${chapter} ${DATE} "volctl ${pjson.version}" "${chapter === 8 ? 'System Administration' : 'Miscellaneous'}"`,
    '',
  ].join('\n')
}

function sectionsOf(name: string): (title: string) => string {
  const sections = readSections(readFileSync(join(sources, `${name}.md`), 'utf8'))
  return (title) => sections.get(title) ?? ''
}

function pageName({ id }: Command.Cached): string {
  return `.BR volctl\\-${id} (8)`
}

function firstSentence(text: string): string {
  const sentence = text.split(/\.(?:\s|$)/)[0] ?? ''
  return sentence.replace(/^./, (first) => first.toLowerCase())
}

function option(flag: Command.Flag.Cached): string {
  const names = [...(flag.char === undefined ? [] : [`-${flag.char}`]), `--${flag.name}`]
  const bold = names.map((name) => `\\fB${escapeRoff(name)}\\fR`).join(', ')
  const value = flag.type === 'option' ? `=\\fI${escapeRoff([flag.helpValue ?? 'VALUE'].flat().join(' '))}\\fR` : ''
  return definition(bold + value, flag.summary ?? '')
}

function examples({ examples: list = [] }: Command.Cached): string {
  return list
    .map((each) => (typeof each === 'string' ? { description: '', command: each } : each))
    .map(({ description, command }) => example(description, command.replaceAll('<%= config.bin %>', 'volctl')))
    .join('')
}

/** A row a status. */
function exitStatuses(command: string): string {
  const rows = meanings().flatMap(([status, each, text]) => (each === command ? [[status, text]] : []))
  return rows.length === 0 ? '' : table(rows)
}

/** A row for each command that ends with it. */
function allExitStatuses(): string {
  return table(meanings())
}

function meanings(): [status: string, command: string, text: string][] {
  return Object.entries(EXIT_MEANINGS).flatMap(([status, ofCommands]) =>
    Object.entries(ofCommands).map(([command, text]): [string, string, string] => [status, command, text]),
  )
}

function plugins(): string {
  return PLUGINS.map(({ name, about }) =>
    definition(`\\fB${escapeRoff(name)}\\fR`, `Tear-down: ${about.tearDown}. Set-up: ${about.setUp}.`),
  ).join('')
}

function codeEntry(code: Code): string {
  const { in: places, means, next } = CODES[code]
  const where = places.join(', ')
  return definition(`\\fB${code}\\fR (${where})`, `${means.replace(/^./, (first) => first.toUpperCase())}. ${next}`)
}
