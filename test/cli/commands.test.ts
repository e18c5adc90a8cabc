/** What volctl prints as a command is, to a shell, the words that were meant (S37), whatever the names in it are. */
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { commandLine, PIPE } from '../../src/core/lang/command.ts'
import { terminalSafe } from '../../src/core/lang/terminal-safe.ts'
import type { NodeState } from '../../src/core/model/node-state.ts'
import type { MountTable } from '../../src/core/mountinfo/mount-table.ts'
import { parseMountinfo } from '../../src/core/mountinfo/parse-mountinfo.ts'
import type { ClusterPlan } from '../../src/core/plan/cluster-plan.ts'
import { withAdvice } from '../../src/core/plan/next-steps.ts'
import type { Plan } from '../../src/core/plan/plan.ts'
import { planNode } from '../../src/core/reconcile/plan-node.ts'
import { chunksOf } from '../../src/core/views/wrap.ts'
import { captureFiles, recorded } from '../helpers/captures.ts'
import { planOf } from '../helpers/cluster-plan.ts'
import { planOptions } from '../helpers/plan-options.ts'
import { anyCluster } from '../helpers/random-cluster.ts'
import { randomFrom } from '../helpers/random-from.ts'
import { stringLiterals } from '../helpers/string-literals.ts'

const ROOT = join(import.meta.dirname, '..', '..')

const SEEDS = Array.from({ length: 50 }, (_, seed) => seed)
const GIVEN = { words: [], settleMs: 120_000 }

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

/** The words that bash makes of what a terminal shows of a line. */
function wordsOf(line: string): string[] {
  const out = execFileSync('/bin/bash', ['--norc', '-c', `set -- ${terminalSafe(line)}\nprintf '%s\\0' "$@"`], {
    encoding: 'utf8',
    cwd: '/',
    env: { PATH: '/nonexistent', HOME: '/home' },
  })
  return out.split('\0').slice(0, -1)
}

describe('a command line', () => {
  it.each(HOSTILE)('with %j is one word to a shell', (name) => {
    for (const word of [name, `spec.nodeName=${name}`, `/var/lib/${name}`])
      expect(wordsOf(commandLine('findmnt', word, 'last'))).toEqual(['findmnt', word, 'last'])
  })

  it('has a pipe only where one was meant', () =>
    expect(commandLine('crictl', 'pods', '|', PIPE, 'xargs')).toBe("crictl pods '|' | xargs"))

  it('what is not quoted would be found', () => expect(wordsOf('findmnt two words last')).toHaveLength(4))
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

/** Of all texts the commands with a hostile name, by the words that bash makes of them, that are not whole names. */
function broken(texts: readonly string[]): { readonly commands: number; readonly words: readonly string[] } {
  const commands = [...new Set(texts)]
    .flatMap((text) => chunksOf(terminalSafe(text)).flatMap((each) => (each.isCommand ? each.text : [])))
    .filter((text) => text.includes('MARK'))
    .map((text) => text.replace(/^\(/, '').replace(/\)?[;:.,]?$/, ''))
  const words = commands.flatMap(wordsOf)
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

function textsOf({ operations, waiting, problems, refused, summary }: Plan | ClusterPlan): string[] {
  const blocked = operations.flatMap((each) => each.blocked ?? [])
  const hints = [...blocked, ...waiting, ...problems, ...(refused === undefined ? [] : [refused])]
  const causes = summary.causes ?? []
  const next = 'next' in summary ? (summary.next ?? []) : []
  return [
    ...hints.flatMap(({ hint }) => hint ?? []),
    ...causes.flatMap(({ remedy }) => remedy),
    ...next.map(({ command }) => command),
  ]
}

describe('S37: with hostile names, to a shell each command has the words that were meant', () => {
  it('of every recorded node', async () => {
    const states = await Promise.all(captureFiles().map(recorded))
    const texts = states.flatMap((state) => {
      const { api, kubelet } = state.snapshot
      const names = [
        ...(api?.pods ?? []).flatMap(({ metadata }) => [metadata.name, metadata.namespace]),
        ...(api?.persistentVolumes ?? []).flatMap(({ metadata, spec }) => [metadata.name, spec.csi?.driver]),
        ...(api?.volumeAttachments ?? []).map(({ metadata }) => metadata.name),
        kubelet?.unit,
        state.snapshot.nodeName,
      ].filter((each) => each !== undefined)
      return textsOf(
        withAdvice(
          planNode({ snapshot: hostile(state.snapshot, names), mounts: withMounts(state) }, planOptions()),
          GIVEN,
        ),
      )
    })
    const found = broken(texts)
    expect(found.commands).toBeGreaterThan(20)
    expect(found.words).toEqual([])
  })

  it('of clusters', () => {
    const texts = SEEDS.flatMap((seed) => {
      const state = anyCluster(randomFrom(seed))
      const names = [...state.nodes.map(({ name }) => name), ...state.attachments.map(({ name }) => name)]
      return textsOf(planOf(hostile(state, names)))
    })
    const found = broken(texts)
    expect(found.commands).toBeGreaterThan(20)
    expect(found.words).toEqual([])
  })
})

/** Programs that people are told to type, each with what may follow. */
const COMMAND =
  /(?:^|[\s("'])(?:volctl (?:apply|check|doctor|explain|journal|plan|snapshot|status|wait)\b|kubectl (?:annotate|auth|config|cordon|delete|describe|drain|edit|get|label|logs|patch|taint|uncordon)\b|systemctl (?:cat|list-\S+|mask|restart|start|status|stop)\b|crictl [a-z]|(?:blockdev|dmsetup|exportfs|findmnt|fsck|iscsiadm|journalctl|kill|losetup|ls|lsblk|mkfs\S*|multipath|nsenter|pgrep|ps|swapoff|umount) (?=[-/]|\$\{…\})|(?:mount) (?=[-/]))/

/** Texts that say what a program did, and that nobody types. */
const NO_ADVICE =
  /^(?:blockdev --getro|iscsiadm) | completion for volctl|^#compdef | did not end within | made no loop device/

/** Texts in which a command goes on with what is inserted, but not from its words. */
function builtByHand(source: string): readonly { readonly text: string; readonly line: number }[] {
  return stringLiterals(source).filter(({ text }) => {
    const [, ...behind] = text.split(COMMAND)
    return behind.some((rest) => /^(?:(?!\. )[^;:),])*\$\{…\}/.test(rest)) && !NO_ADVICE.test(text)
  })
}

/** What advice never says (S37): it enters no namespace of another, destroys no proof, moves no file from under its writer. */
const NEVER =
  /\bnsenter (?:-|PID)|(?:^|[^-])\bumount (?:-R|PATH|the path)|\bunmount it (?:if|yourself|there)\b|\b(?:move|delete|remove) (?:it|them|or delete it|or remove it) ?(?:away|yourself)|\bremove iscsi\.json|\bor remove it\b/i

describe('in the source', () => {
  it('S37: no advice asks for what may destroy something', () => {
    const found = globSync('src/core/**/*.ts', { cwd: ROOT }).flatMap((file) =>
      stringLiterals(readFileSync(join(ROOT, file), 'utf8')).flatMap(({ text, line }) =>
        NEVER.test(text) ? `${file}:${line} ${text}` : [],
      ),
    )
    expect(found).toEqual([])
  })

  it('no command with a name in it is built but from its words', () => {
    const found = globSync('src/**/*.ts', { cwd: ROOT }).flatMap((file) =>
      builtByHand(readFileSync(join(ROOT, file), 'utf8')).map(({ text, line }) => `${file}:${line} ${text}`),
    )
    expect(found).toEqual([])
  })

  it('what is built otherwise would be found', () => {
    const texts = ['Look: kubectl get node #{n}', '(findmnt #{path})', 'volctl plan --lazy #{shellWord(path)}']
    const source = (text: string): string => `\`${text.replace('#', '$')}\``
    expect(texts.map((text) => builtByHand(source(text)).length)).toEqual([1, 1, 1])
    expect(builtByHand(source("Look: #{kubectl('get', 'node', n)}"))).toEqual([])
  })
})
