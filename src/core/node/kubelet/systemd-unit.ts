/**
 * Reads a service's unit file, its drop-ins and environment files without systemd: they show how a stopped kubelet would be
 * started (S8).
 *
 * @see systemd.unit(5), systemd.exec(5), systemd.syntax(7)
 */
import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { append } from '../../base/collections.ts'
import { compareText } from '../../base/text.ts'
import { obeyedTextIfAny, trustedTextIfAny } from '../../trust/files.ts'
import { linkIfAny, listIfAny } from '../../trust/kernel.ts'

export type ServiceUnit = NonNullable<ReturnType<typeof readServiceUnit>>

/** The unit file in the first of these directories wins; drop-ins of all are merged. */
const UNIT_DIRECTORIES = [
  '/etc/systemd/system',
  '/run/systemd/system',
  '/usr/local/lib/systemd/system',
  '/usr/lib/systemd/system',
  '/lib/systemd/system',
]

/**
 * @param root prefix of every path, for tests
 * @returns undefined if there is no such unit, or it is masked
 */
export function readServiceUnit(name: string, root = '') {
  const directory = UNIT_DIRECTORIES.find((candidate) => exists(join(root, candidate, name)))
  // A link to /dev/null: it is masked.
  if (directory === undefined || linkIfAny(join(root, directory, name)) === '/dev/null') return undefined
  const base = obeyedTextIfAny(join(root, directory, name))
  if (!base) return undefined
  const settings = new Map<string, string[]>()
  for (const text of [base, ...dropIns(name, root)]) readServiceSection(text, settings)
  const of = (setting: string): readonly string[] => settings.get(setting) ?? []
  const files = of('EnvironmentFile').map((value) => join(root, value.replace(/^-/, '')))
  const words = [...of('Environment').flatMap(splitWords), ...files.flatMap(environmentFile)]
  const command = of('ExecStart')
    .at(-1)
    ?.replace(/^[-@:+!|]+/, '')
  if (command === undefined) return undefined
  return {
    name,
    /** The command line of the last ExecStart, with variables expanded. */
    args: expand(command, new Map(words.flatMap(assignmentIn))),
    workingDirectory: of('WorkingDirectory').at(-1)?.replace(/^-/, '') ?? '/',
  }
}

/** Where an administrator or a distribution's installer puts units; packages use the directories further down the list. */
const OWN_UNIT_DIRECTORIES = UNIT_DIRECTORIES.slice(0, 3)

/**
 * Services whose unit file matches, sorted. A file that somebody else could have written is skipped silently, since hardly
 * any of these is a kubelet's.
 */
export function serviceUnitsNaming(what: RegExp, root = ''): readonly string[] {
  const names = OWN_UNIT_DIRECTORIES.flatMap((directory) =>
    listIfAny(join(root, directory)).filter((name) => {
      if (!name.endsWith('.service')) return false
      const { text } = trustedTextIfAny(join(root, directory, name))
      return text !== undefined && what.test(text)
    }),
  )
  return [...new Set(names)].sort()
}

/** Those of these units that are enabled, by the links that `systemctl enable` makes. */
export function enabledOf(names: readonly string[], root = ''): readonly string[] {
  const directory = join(root, '/etc/systemd/system')
  const wants = listIfAny(directory).filter((entry) => entry.endsWith('.wants'))
  return names.filter((name) => wants.some((entry) => exists(join(directory, entry, name))))
}

function dropIns(name: string, root: string): readonly string[] {
  // Of two of one name that in the first of the directories wins.
  const files = UNIT_DIRECTORIES.toReversed().flatMap((directory) => {
    const at = join(root, directory, `${name}.d`)
    return listIfAny(at).flatMap((file) => (file.endsWith('.conf') ? [[file, join(at, file)] as const] : []))
  })
  return [...new Map(files)].sort(([a], [b]) => compareText(a, b)).map(([, path]) => obeyedTextIfAny(path) ?? '')
}

/** An empty value resets the setting. */
function readServiceSection(text: string, settings: Map<string, string[]>): void {
  let section = ''
  for (const line of text.replaceAll(/\\\n\s*/g, ' ').split('\n')) {
    const trimmed = line.trim()
    if (trimmed === '' || trimmed.startsWith('#') || trimmed.startsWith(';')) continue
    const header = /^\[(.+)\]$/.exec(trimmed)
    if (header !== null) section = header[1] ?? ''
    const equals = trimmed.indexOf('=')
    if (section !== 'Service' || header !== null || equals === -1) continue
    const key = trimmed.slice(0, equals).trim()
    const value = trimmed.slice(equals + 1).trim()
    if (value === '') settings.delete(key)
    else append(settings, key, value)
  }
}

/** NAME=value lines; `#` and `;` begin comments, a backslash at the end joins lines. */
function environmentFile(path: string): readonly string[] {
  return (obeyedTextIfAny(path) ?? '')
    .replaceAll(/\\\n/g, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !/^[#;]/.test(line))
    .map((line) => line.replace(/^([A-Za-z_]\w*)=(["'])(.*)\2$/s, '$1=$3'))
}

function assignmentIn(word: string): [string, string][] {
  const equals = word.indexOf('=')
  return equals > 0 ? [[word.slice(0, equals), word.slice(equals + 1)]] : []
}

/** `$NAME` as a whole word is split at blanks, `${NAME}` is inserted as it is. */
function expand(command: string, environment: ReadonlyMap<string, string>): readonly string[] {
  return splitWords(command).flatMap((word) => {
    const own = /^\$([A-Za-z_]\w*)$/.exec(word)?.[1]
    if (own !== undefined) return splitWords(environment.get(own) ?? '')
    return [
      word.replaceAll(/\$\{([A-Za-z_]\w*)\}/g, (_, name: string) => environment.get(name) ?? '').replaceAll('$$', '$'),
    ]
  })
}

/** Words between blanks; quotes, single or double, hold a word together; a backslash takes the next character as it is. */
export function splitWords(text: string): readonly string[] {
  const words = text.match(/(?:\\.|'[^']*'?|"(?:\\.|[^"\\])*"?|[^ \t\n])+/gs) ?? []
  return words.map((word) =>
    word.replaceAll(
      PARTS,
      (part, escaped, single, double) => escaped ?? single ?? double?.replaceAll(ESCAPED, '$1') ?? part,
    ),
  )
}

const ESCAPED = /\\(.)/gs
const PARTS = /\\(.)|'([^']*)'?|"((?:\\.|[^"\\])*)"?/gs

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}
