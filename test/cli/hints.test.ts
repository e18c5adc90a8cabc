/** What volctl tells people to type: commands and flags that exist, and nothing behind a command that a shell would take for a part of it. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { commandManifest } from '../../scripts/manifest.ts'
import { clusterAnswerOf } from '../../src/core/answer/cluster-answer.ts'
import { ALL_CODES, CODES } from '../../src/core/codes/codes.ts'
import type { ClusterPlan } from '../../src/core/plan/cluster-plan.ts'
import type { Plan } from '../../src/core/plan/plan.ts'
import { planNode } from '../../src/core/reconcile/plan-node.ts'
import { chunksOf } from '../../src/core/views/wrap.ts'
import { captureFiles, recorded } from '../helpers/captures.ts'
import { planOf } from '../helpers/cluster-plan.ts'
import { planOptions } from '../helpers/plan-options.ts'
import { anyCluster } from '../helpers/random-cluster.ts'
import { randomFrom } from '../helpers/random-from.ts'
import { stringLiterals } from '../helpers/string-literals.ts'
import { WORKED_CLUSTERS } from '../helpers/worked-clusters.ts'

const ROOT = join(import.meta.dirname, '..', '..')

/** Beside the safety overrides. */
const LIFTING = ['node-gone', 'strip-finalizers', 'confirm', 'orphans', 'remount', 'expand']

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

function hintsOf({ operations, waiting, problems, refused }: Plan | ClusterPlan): string[] {
  const blocked = operations.flatMap((each) => each.blocked ?? [])
  const all = [...blocked, ...waiting, ...problems, ...(refused === undefined ? [] : [refused])]
  return all.flatMap(({ hint }) => hint ?? [])
}

/** Any cluster, without flags and with those that lift something. */
function clusterHints(seed: number): string[] {
  const state = anyCluster(randomFrom(seed))
  const options = { nodeGone: ['n0', 'typo'], stripFinalizers: true, volumes: ['typo'], namespaces: ['typo'] }
  return [planOf(state), planOf(state, options)].flatMap(hintsOf)
}

const SEEDS = Array.from({ length: 300 }, (_, seed) => seed)

describe('a command in what volctl says to do next can be pasted as it is', () => {
  it.each<{ of: string; texts: () => string[] | Promise<string[]>; least: number }>([
    { of: 'a code', texts: () => ALL_CODES.map((code) => CODES[code].next), least: 40 },
    { of: 'the plan of a cluster', texts: () => SEEDS.flatMap(clusterHints), least: 30 },
    {
      of: 'an answer about a cluster',
      texts: () =>
        Object.values(WORKED_CLUSTERS).flatMap((state) => {
          const { needs, next } = clusterAnswerOf(planOf(state), { applyCommand: 'volctl apply --cluster' })
          return [...needs.flatMap(({ remedy }) => remedy), ...next.map(({ command }) => command)]
        }),
      least: 5,
    },
    {
      of: 'the plan of a node',
      texts: async () => {
        const states = await Promise.all(captureFiles().map((path) => recorded(path)))
        return states.flatMap((state) => hintsOf(planNode(state, planOptions())))
      },
      least: 5,
    },
  ])('$of', async ({ texts, least }) => {
    const all = [...new Set(await texts())]
    expect(all.filter((text) => chunksOf(text).some(({ isCommand }) => isCommand)).length).toBeGreaterThan(least)
    expect(all.flatMap(defects)).toEqual([])
  })

  it('what is checked would be found', () => {
    const texts = [
      'Run volctl plan --cluster.',
      'volctl plan --no-such',
      'Then: volctl no-such',
      'kubectl delete node a, or',
    ]
    expect(texts.map((text) => defects(text).length)).toEqual([1, 1, 0, 1])
    expect(defects('See the node (kubectl describe node a), then: volctl apply --cluster --confirm x')).toEqual([])
  })
})

it('no text asks for a flag that lifts something without the command that it belongs to', () => {
  expect(overrides).toEqual(expect.arrayContaining(['accept-insecure-api', 'confirm', 'node-gone']))
  const asks = new RegExp(`\\b(?:add|give|needs|pass|use) --(?:${overrides.join('|')})\\b(?!.* only when)`, 'i')
  const sources = globSync('src/**/*.ts', { cwd: ROOT }).flatMap((file) =>
    stringLiterals(readFileSync(join(ROOT, file), 'utf8')).map(({ text, line }) => ({
      where: `${file}:${line}`,
      text,
    })),
  )
  expect(sources.filter(({ text }) => asks.test(text))).toEqual([])
})

it('what a code says to do next names flags that a command has', () => {
  const flags = new Set([...flagsOf.values()].flatMap((each) => [...each]))
  const unknown = ALL_CODES.flatMap((code) =>
    [...`${CODES[code].means} ${CODES[code].next}`.replaceAll(/kubectl [^;.]*/g, '').matchAll(/--([a-z][a-z-]*)/g)]
      .filter(([, flag = '']) => !flags.has(flag))
      .map(([given]) => `${code}: ${given}`),
  )
  expect(unknown).toEqual([])
})
