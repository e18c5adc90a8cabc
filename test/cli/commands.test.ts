/** What volctl tells people to type exists, has nothing behind it, and is to a shell the words that were meant, whatever the names (S37). */
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { commandManifest } from '../../scripts/manifest.ts'
import type { ClusterState } from '../../src/core/cluster/model/cluster-state.ts'
import type { MountTable } from '../../src/core/linux/mount-table.ts'
import { parseMountinfo } from '../../src/core/linux/parse-mountinfo.ts'
import { ALL_CODES, CODES, nextOf } from '../../src/core/messages/codes.ts'
import { advice, commandLine, type Hint, PIPE } from '../../src/core/messages/command.ts'
import { terminalSafe } from '../../src/core/messages/terminal-safe.ts'
import type { ClusterPlan } from '../../src/core/plan/cluster-plan.ts'
import { withAdvice } from '../../src/core/plan/next-steps.ts'
import type { Plan } from '../../src/core/plan/plan.ts'
import { planNode } from '../../src/core/reconcile/plan-node.ts'
import { clusterAnswerOf } from '../../src/core/views/answer/cluster-answer.ts'
import type { NodeState } from '../../src/core/volumes/snapshot.ts'
import { captureFiles, recorded } from '../helpers/captures.ts'
import { planOf } from '../helpers/cluster-plan.ts'
import { planOptions } from '../helpers/plan-options.ts'
import { anyCluster } from '../helpers/random-cluster.ts'
import { randomFrom } from '../helpers/random-from.ts'
import { chunksOf } from '../helpers/screens.ts'
import { WORKED_CLUSTERS } from '../helpers/worked-clusters.ts'
import { stringLiterals } from './string-literals.ts'

const ROOT = join(import.meta.dirname, '..', '..')

const SEEDS = Array.from({ length: 300 }, (_, seed) => seed)
const GIVEN = { applyFlags: [], settleMs: 120_000 }

const HOSTILE = [
  'o;id>pwned;#',
  'two words',
  "it's",
  '"',
  'a\nb',
  '$(id)',
  '`id`',
  '-rf',
  '',
  '*',
  '~',
  '!x',
  'a\\',
  "'; id; '",
  '\u001b]0;t\u0007',
  'ü\u202e\u3164',
  'a|b&c',
  '{x,y}',
  '#',
  'k=v w',
]

/** The words that bash makes of what a terminal shows of lines. */
function wordsOf(...lines: readonly string[]): string[] {
  const out = execFileSync('/bin/bash', ['--norc', '-s'], {
    input: lines.map((line) => `set -- ${terminalSafe(line)}\nprintf '%s\\0' "$@"\n`).join(''),
    encoding: 'utf8',
    cwd: '/',
    env: { PATH: '/nonexistent', HOME: '/home' },
  })
  return out.split('\0').slice(0, -1)
}

describe('a command line', () => {
  it.each(HOSTILE)('with %j is one word to a shell', (name) => {
    for (const word of [name, `spec.nodeName=${name}`, `/var/lib/${name}`])
      expect(wordsOf(`${commandLine('findmnt', word, 'last')}`)).toEqual(['findmnt', word, 'last'])
  })

  it('has a pipe only where one was meant', () =>
    expect(`${commandLine('crictl', 'pods', '|', PIPE, 'xargs')}`).toBe("crictl pods '|' | xargs"))
})

/** A name as anybody may choose one, after a mark by which it is found again. */
const named = (name: string, index: number): string => `MARK${HOSTILE[index % HOSTILE.length] || ';'}${name}`

/** The same state, in which these names are hostile. */
function hostile<T>(state: T, names: Iterable<string>): T {
  let text = JSON.stringify(state)
  for (const [index, name] of [...new Set(names)].entries())
    text = text.replaceAll(JSON.stringify(name), () => JSON.stringify(named(name, index)))
  return JSON.parse(text) as T
}

/** Beside the safety overrides. */
const LIFTING = ['node-gone', 'orphans', 'remount', 'expand']

let flagsOf: ReadonlyMap<string, ReadonlySet<string>>
let overrides: readonly string[]
beforeAll(async () => {
  const { commands } = await commandManifest()
  flagsOf = new Map(
    Object.entries(commands).map(([id, { flags }]) => [
      id,
      new Set([...Object.keys(flags), ...Object.values(flags).flatMap(({ char }) => char ?? []), 'help']),
    ]),
  )
  overrides = Object.values(commands).flatMap(({ flags }) =>
    Object.entries(flags).flatMap(([name, { helpGroup }]) =>
      helpGroup === 'SAFETY OVERRIDES' || LIFTING.includes(name) ? name : [],
    ),
  )
})

/** What is wrong with the commands of a text. */
function defects(text: string): string[] {
  return chunksOf(text).flatMap(({ text: chunk, isCommand }) => {
    if (!isCommand) return []
    const isAside = chunk.startsWith('(')
    const command = chunk.replace(/^\(|\)?[;.,]?$/g, '')
    const marked = !isAside && /[.,:)]$/.test(chunk) ? ['has a mark behind it'] : []
    return [...marked, ...unknownWords(command)].map((defect) => `${chunk} ${defect}: ${text}`)
  })
}

const hasCommand = (text: string): boolean => chunksOf(text).some(({ isCommand }) => isCommand)

/** Of volctl's own commands. */
function unknownWords(command: string): string[] {
  const own = /^(?:sudo )?volctl (\S+)(.*)$/.exec(command)
  if (own === null) return []
  const [, id = '', rest = ''] = own
  const flags = flagsOf.get(id)
  if (flags === undefined) return ['is no command']
  return [...rest.matchAll(/ --?([a-z][a-z-]*)/g)].flatMap(([given, flag = '']) =>
    flags.has(flag) ? [] : [`has an unknown flag${given}`],
  )
}

/** Of all texts the commands with a hostile name, by the words that bash makes of them, that are not whole names. */
function broken(texts: readonly string[]): { readonly commands: number; readonly words: readonly string[] } {
  const commands = texts
    .flatMap((text) => chunksOf(text).flatMap((each) => (each.isCommand ? each.text : [])))
    .filter((text) => text.includes('MARK'))
    .map((text) => text.replace(/^\(/, '').replace(/\)?[;:.,]?$/, ''))
  const words = wordsOf(...commands)
  const whole = HOSTILE.map((name) => `MARK${name || ';'}`)
  const isWhole = (word: string): boolean => whole.some((name) => word.includes(name))
  return { commands: commands.length, words: words.filter((word) => word.includes('MARK') && !isWhole(word)) }
}

/** The same mount table with somebody's mount in each of the kubelet's. */
function withMounts({ snapshot: { mountinfo = '' } }: NodeState): MountTable {
  const lines = mountinfo.split('\n').filter((line) => / \S*\/pods\/\S+ /.test(line))
  const more = lines.map((line, index) => {
    const [id = '', , , , at = ''] = line.split(' ')
    return `${90000 + index} ${id} 0:999 / ${at}/MARKo;id>pwned;# rw - tmpfs tmpfs rw`
  })
  return parseMountinfo([mountinfo.trimEnd(), ...more, ''].join('\n'))
}

function textsOf({ operations, waiting, problems, refused, summary }: Plan | ClusterPlan): Hint[] {
  const blocked = operations.flatMap((each) => each.blocked ?? [])
  const hints = [...blocked, ...waiting, ...problems, ...(refused === undefined ? [] : [refused])]
  const causes = summary.causes ?? []
  const next = 'next' in summary ? (summary.next ?? []) : []
  return [
    ...hints.flatMap(({ hint }) => hint ?? []),
    ...causes.flatMap(({ remedy }) => remedy),
    ...next.map(({ command }) => advice`${command}`),
  ]
}

/** What a recorded node with hostile names is told. */
async function toldOfNode(path: string): Promise<Hint[]> {
  const state = await recorded(path)
  const { api, kubelet, nodeName } = state.snapshot
  const names = [
    ...(api?.pods ?? []).flatMap(({ metadata }) => [metadata.name, metadata.namespace]),
    ...(api?.persistentVolumes ?? []).flatMap(({ metadata, spec }) => [metadata.name, spec.csi?.driver]),
    ...(api?.volumeAttachments ?? []).map(({ metadata }) => metadata.name),
    kubelet?.unit,
    nodeName,
  ].filter((each) => each !== undefined)
  const snapshot = hostile(state.snapshot, names)
  return textsOf(withAdvice(planNode({ snapshot, mounts: withMounts(state) }, planOptions()), GIVEN))
}

/** What any cluster with hostile names is told, without flags and with those that lift something. */
function toldOfCluster(state: ClusterState): Hint[] {
  const names = [...state.nodes.map(({ name }) => name), ...state.attachments.map(({ name }) => name)]
  const options = { nodeGone: ['n0', 'typo'], volumes: ['typo'], namespaces: ['typo'] }
  return [{}, options].flatMap((given) => {
    const plan = planOf(hostile(state, names), given)
    const { needs, next } = clusterAnswerOf(plan, { applyFlags: ['--cluster'] })
    return [
      ...textsOf(plan),
      ...needs.flatMap(({ remedy }) => remedy),
      ...next.map(({ command }) => advice`${command}`),
    ]
  })
}

describe('a command in what volctl says to do next can be pasted as it is, and with hostile names has the words that were meant (S37)', () => {
  it.each<{ of: string; texts: () => Hint[] | Promise<Hint[]>; least: number; hostile: number }>([
    { of: 'a code', texts: () => ALL_CODES.map(nextOf), least: 40, hostile: -1 },
    {
      of: 'the plan of a cluster, and the answer about it',
      texts: () =>
        [...Object.values(WORKED_CLUSTERS), ...SEEDS.map((seed) => anyCluster(randomFrom(seed)))].flatMap(
          toldOfCluster,
        ),
      least: 30,
      hostile: 20,
    },
    {
      of: 'the plan of a node',
      texts: async () => (await Promise.all(captureFiles().map(toldOfNode))).flat(),
      least: 5,
      hostile: 20,
    },
  ])('$of', async ({ texts, least, hostile: leastHostile }) => {
    const told = await texts()
    expect([...new Set(told.filter((hint) => typeof hint === 'string' && hasCommand(hint)))]).toEqual([])
    const all = [...new Set(told.map(String))].map(terminalSafe)
    expect(all.filter(hasCommand).length).toBeGreaterThan(least)
    expect(all.flatMap(defects)).toEqual([])
    const { commands, words } = broken(all)
    expect(commands).toBeGreaterThan(leastHostile)
    expect(words).toEqual([])
  })
})

/** Texts that say what a program did, and that nobody types. */
const NO_ADVICE =
  /^(?:blockdev --getro|iscsiadm) | completion for volctl|^#compdef | did not end within | made no loop device/

/** Texts in which a command goes on with what is inserted, but not from its words. */
function builtByHand(source: string): readonly { readonly text: string; readonly line: number }[] {
  const isByHand = (text: string): boolean =>
    chunksOf(text).some((each) => each.isCommand && /\$\{…\}/.test(each.text)) && !NO_ADVICE.test(text)
  return stringLiterals(source).filter(({ text }) => isByHand(text))
}

/** What advice never says (S37): it enters no namespace of another, destroys no proof, moves no file from under its writer. */
const NEVER =
  /\bnsenter (?:-|PID)|(?:^|[^-])\bumount (?:-R|PATH|the path)|\bunmount it (?:if|yourself|there)\b|\b(?:move|delete|remove) (?:it|them|or delete it|or remove it) ?(?:away|yourself)|\bremove iscsi\.json|\bor remove it\b|\bremove vol_data\.json|\bunmount it\.|\b(?:move|delete) or (?:move|delete)\b/i

/** Nor as words of which a command is built. */
const NEVER_BUILT = /commandLine\(\s*'(?:chroot|mv|nsenter|rm|umount|unlink)'/g

/** Each text of the source that is found so, with its place. */
function inSource(
  files: string,
  found: (source: string) => readonly { readonly text: string; readonly line: number }[],
) {
  return globSync(files, { cwd: ROOT }).flatMap((file) =>
    found(readFileSync(join(ROOT, file), 'utf8')).map(({ text, line }) => `${file}:${line} ${text}`),
  )
}

const matching = (pattern: RegExp) => (source: string) =>
  stringLiterals(source).filter(({ text }) => pattern.test(text))

describe('in the source', () => {
  it('S37: no advice asks for what may destroy something', () =>
    expect([
      ...inSource('src/core/**/*.ts', matching(NEVER)),
      ...inSource('src/**/*.ts', (source) => [...source.matchAll(NEVER_BUILT)].map(([text]) => ({ text, line: 0 }))),
    ]).toEqual([]))

  it('no command with a name in it is built but from its words', () =>
    expect(inSource('src/**/*.ts', builtByHand)).toEqual([]))

  it('no text asks for a flag that lifts something without the command that it belongs to', () => {
    expect(overrides).toEqual(expect.arrayContaining(['accept-insecure-api', 'node-gone']))
    const asks = new RegExp(`\\b(?:add|give|needs|pass|use) --(?:${overrides.join('|')})\\b(?!.* only when)`, 'i')
    expect(inSource('src/**/*.ts', matching(asks))).toEqual([])
  })
})

it('what a code says to do next names flags that a command has', () => {
  const flags = new Set([...flagsOf.values()].flatMap((each) => [...each]))
  const unknown = ALL_CODES.flatMap((code) =>
    [...`${CODES[code].means} ${nextOf(code)}`.replaceAll(/kubectl [^;.]*/g, '').matchAll(/--([a-z][a-z-]*)/g)]
      .filter(([, flag = '']) => !flags.has(flag))
      .map(([given]) => `${code}: ${given}`),
  )
  expect(unknown).toEqual([])
})
