/** Whose each finding of a plan is: of recorded nodes, and of nodes as no one would think of them. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Ledger } from '../../src/core/ledger/ledger.ts'
import type { VolumeRow } from '../../src/core/ledger/row.ts'
import type { NodeState } from '../../src/core/model/node-state.ts'
import type { PlanOptions } from '../../src/core/plan/plan.ts'
import type { Subject } from '../../src/core/plan/subject.ts'
import { planWithDecisions } from '../../src/core/reconcile/decisions.ts'
import { planNode } from '../../src/core/reconcile/plan-node.ts'
import { readSnapshot } from '../../src/core/snapshot/read-snapshot.ts'
import { CAPTURES } from '../cli/run-volctl.ts'
import { captureFiles } from '../helpers/captures.ts'
import { planOptions } from '../helpers/plan-options.ts'
import { buildNode, randomNode } from '../helpers/random-node.ts'

/** Findings that say of nothing whose they are, or of something that the node does not have. */
function lostFindings(state: NodeState, options: Partial<PlanOptions>): string[] {
  const { plan, context, decisions } = planWithDecisions(state, planOptions(options))
  const found: (readonly [string, Subject | undefined])[] = [
    ...plan.operations.map(({ kind, subject }) => [kind, subject] as const),
    ...plan.waiting.map(({ code, subject }) => [code, subject] as const),
    ...plan.problems.map(({ code, subject }) => [code, subject] as const),
    ...decisions.map(({ path, subject }) => [path, subject] as const),
  ]
  return found.flatMap(([what, subject]) => {
    const why = subject === undefined ? 'no subject' : unknownBy(context.ledger, subject)
    return why === undefined ? [] : [`${what}: ${why} ${JSON.stringify(subject)}`]
  })
}

function unknownBy(ledger: Ledger, subject: Subject): string | undefined {
  if ('path' in subject) return subject.path.startsWith('/') ? undefined : 'no absolute path'
  if (!('row' in subject)) return undefined
  const row = ledger.row(subject.row)
  if (row === undefined) return 'no such row'
  return subject.pod === undefined || row.podUids.has(subject.pod) ? undefined : 'the pod has nothing of this row'
}

/** A thing's row is the same whether it is asked of the thing, or of all rows. */
function strayThings(ledger: Ledger): string[] {
  const subjects = (row: VolumeRow): Subject[] => [
    ...[...row.wanted, ...row.ended].map((volume) => ledger.wanted(volume)),
    ...row.unresolved.map((volume) => ledger.unresolved(volume)),
    ...row.onDisk.map((volume) => ledger.podVolume(volume)),
    ...row.leaked.map(({ podUid, subPaths }) => ledger.leaked(podUid, subPaths)),
    ...row.staged.map((staged) => ledger.staged(staged)),
    ...row.globals.map((global) => ledger.global(global)),
    ...row.maps.map(({ block }) => ledger.block(block)),
    ...(row.attachment === undefined ? [] : [ledger.attachment(row.attachment)]),
  ]
  return ledger.all.flatMap((row) =>
    subjects(row).flatMap((each) =>
      'row' in each && each.row === row.key ? [] : `${row.key}: ${JSON.stringify(each)}`,
    ),
  )
}

function expectWhole(state: NodeState, options: Partial<PlanOptions>): void {
  expect(lostFindings(state, options)).toEqual([])
  expect(strayThings(planWithDecisions(state, planOptions(options)).context.ledger)).toEqual([])
}

describe('every operation, wait, problem and decision has a subject that the node has', () => {
  it.each(captureFiles())('%s', async (path) => {
    const state = await readSnapshot(join(CAPTURES, path))
    expectWhole(state, {})
    expectWhole(state, { orphans: true, remount: true, expand: true, settleMs: 0 })
  })

  it('nodes as no one would think of them', () =>
    fc.assert(
      fc.property(randomNode, fc.boolean(), (random, orphans) => expectWhole(buildNode(random), { orphans })),
      { numRuns: 100, seed: 34 },
    ))
})

it('the same state gives the same subjects, whatever was asked before', () => {
  const state = buildNode(fc.sample(randomNode, { numRuns: 1, seed: 7 })[0] ?? (undefined as never))
  const { plan, context } = planWithDecisions(state, planOptions())
  expect(context.ledger.all.length).toBeGreaterThan(0)
  expect(planNode(state, planOptions())).toEqual(plan)
})

/** The one place that answers it, of a node and of a cluster. */
const ANSWERS = /^src\/core\/ledger\//

describe('no other file finds out whose a finding is', () => {
  /** By the fields in which a finding names things for people; whether there is a name is no comparison. */
  const MATCHES = [
    /\babout: \{[^}]*\b(pod|volume|path|driver)\b[^}]*\} ?\}?: ?(Cluster)?Problem/,
    /\babout\??\.(pod|volume|path|driver|uniqueName|attachment)\b[^={}\n]*(===(?! undefined)|\.has\(|\.includes\()/,
    /(===|\.has\(|\.includes\() ?\(?(problem|each|found)\.about\b(?!\.\w+ === undefined)/,
    /\b(operation|each|draft)\.paths\.(some|find|includes|every)/,
  ]

  /** Goes through findings. */
  const SEARCH =
    /\b(?:operations|waiting|waits|problems|decisions|causes|drafts|forgotten|pressing)[\])]*\s*\??\.(?:find|findLast|findIndex|some|every|filter|flatMap)\(/g

  const NAMES =
    '(?:uid|uniqueName|persistentVolume|podVolumeName|handle|paths?|claim|driver|attachment|name|mountPoint)'

  /** A name or a path, and another one: not nothing, and no word of volctl's own. */
  const COMPARES = new RegExp(
    [
      `\\b${NAMES}\\b(?:\\?\\.\\w+)*\\)? ?[!=]==(?! ?(?:undefined|null|'|\\d|true|false))`,
      `[!=]== ?\\w[\\w?.]*\\.${NAMES}\\b`,
      `\\.(?:has|includes|startsWith)\\([^()]*\\b(?:${NAMES}|pod|volume|about)\\b`,
      String.raw`\bisWithin\(`,
    ].join('|'),
  )

  /**
   * Everywhere: also where findings are made and carried out. Told apart by what it does is the operation of a step that runs, which
   * is not sought: its paths are held against what the kernel says, its volume against those that others work on. What this cannot tell apart: the pass asks its drafts, by
   * mount, path, volume and pod, which operation comes after which (`Findings`, plan/draft.ts); that is about order, whose a draft is
   * was said when it was made.
   */
  it('by a path or a name', () => {
    const root = join(import.meta.dirname, '..', '..')
    const texts = globSync('src/**/*.ts', { cwd: root })
      .filter((file) => !ANSWERS.test(file))
      .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }))
    expect(texts.length).toBeGreaterThan(500)
    expect(texts.filter(({ text }) => isSought(text)).map(({ file }) => file)).toEqual([])
  })

  it.each([
    { says: 'problems.find(({ about }) => about.volume?.uniqueName === uniqueName)', sought: true },
    { says: 'operations.filter((each) => each.pod?.uid === pod.uid)', sought: true },
    { says: 'decisions.find(({ path }) => wanted.some((each) => isWithin(path, each)))', sought: true },
    { says: 'waiting.filter((each) => !named.has(each.volume?.name))', sought: true },
    { says: 'draft.paths.includes(path)', sought: true },
    { says: 'problems.filter(({ subject }) => rowOf(subject) === row)', sought: false },
    { says: "operations.filter(({ kind }) => kind === 'MountVolume')", sought: false },
    { says: 'const pod = about.pod === undefined ? undefined : { uid: about.pod }', sought: false },
    {
      says: 'const { operation } = run\nif (operation.paths.some((path) => isWithin(own, path))) return',
      sought: false,
    },
  ])('the test sees it: $says', ({ says, sought }) => expect(isSought(says)).toBe(sought))

  function isSought(text: string): boolean {
    const own = /\boperation\b[^;\n]*\} = run\b/.test(text)
    const rest = own ? text.replaceAll(/(?:[!=]== )?\boperation\.(?:paths|volume\?\.uniqueName)\b/g, '') : text
    return (
      MATCHES.some((each) => each.test(rest)) ||
      [...rest.matchAll(SEARCH)].some((found) => COMPARES.test(callOf(rest, found.index + found[0].length)))
    )
  }

  /** What stands in the parentheses that were opened before. */
  function callOf(text: string, start: number): string {
    let depth = 1
    let end = start
    for (; end < text.length && depth > 0; end++) depth += text[end] === '(' ? 1 : text[end] === ')' ? -1 : 0
    return text.slice(start, end - 1)
  }
})
