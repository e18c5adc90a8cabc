/**
 * Objects of the API in which one thing after the other has another type, which no schema allows and any server may send: a plan and the
 * answers of explain, or a clear error, and never a defect. VOLCTL_FUZZ=10000 tries as many of every capture, another choice each time;
 * 200000 are all, which takes hours.
 */
import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseMountinfo } from '../../src/core/linux/parse-mountinfo.ts'
import { VolctlError } from '../../src/core/messages/findings.ts'
import { readApi } from '../../src/core/node/api/read-api.ts'
import { planNode } from '../../src/core/reconcile/plan-node.ts'
import { ShapeError } from '../../src/core/trust/shape.ts'
import { renderExplanation } from '../../src/core/views/explain-view.ts'
import { renderPlan } from '../../src/core/views/plan-view.ts'
import { PLAIN_SCREEN } from '../../src/core/views/screen.ts'
import { type NodeSnapshot, type NodeState, snapshotShape } from '../../src/core/volumes/snapshot.ts'
import { explainer } from '../helpers/explaining.ts'
import { planOptions } from '../helpers/plan-options.ts'
import { CapturedClient } from '../kube/captured-client.ts'

type Path = readonly (string | number)[]

/** What stands in its place; `undefined`: it is missing. */
const ODD: readonly unknown[] = [undefined, null, true, 7, 1.5, '', 'x', [], {}, [null], [{}], ['x'], { x: null }]

/** Every node below, with what leads to it. */
function* pathsOf(value: unknown, path: Path = []): Generator<Path> {
  if (typeof value !== 'object' || value === null) return
  const keys = Array.isArray(value) ? value.keys() : Object.keys(value)
  for (const key of keys) {
    const below = [...path, key]
    yield below
    yield* pathsOf((value as Record<string | number, unknown>)[key], below)
  }
}

/** As messages name it. */
function pathText(path: Path): string {
  return path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('')
}

/** Does something with the document while the node is swapped; afterwards the document is as before. */
function swapped<T>(document: object, path: Path, odd: unknown, use: () => T): T {
  const parents = path.slice(0, -1)
  const key = path.at(-1) as string
  const parent = parents.reduce<Record<string | number, unknown>>(
    (at, each) => at[each] as Record<string, unknown>,
    document as Record<string, unknown>,
  )
  const before = parent[key]
  if (odd === undefined && !Array.isArray(parent)) delete parent[key]
  else parent[key] = odd ?? null
  try {
    return use()
  } finally {
    parent[key] = before
  }
}

const { VOLCTL_FUZZ: asked } = process.env
const sample: fc.Parameters<number> = asked === undefined ? { numRuns: 40, seed: 1136 } : { numRuns: Number(asked) }

const CAPTURES = new URL('../fixtures/captures/', import.meta.url)
const options = planOptions({ orphans: true, remount: true, expand: true })

type Api = NonNullable<NodeSnapshot['api']>
type Captured = NodeSnapshot & { readonly api: Api }

/** Captures of real nodes, by the names of their files. */
const CAPTURED = readdirSync(CAPTURES, { recursive: true, encoding: 'utf8' }).filter((name) =>
  /(?:node|before|after)\.json$/.test(name),
)

/** One name of each sort, and the paths. */
function namesIn({ api, rootDir }: Captured): string[] {
  const [claim] = api.persistentVolumeClaims
  return [
    ...api.pods.slice(0, 3).map(({ metadata }) => metadata.uid),
    ...api.persistentVolumes.slice(0, 2).map(({ metadata }) => `pv/${metadata.name}`),
    ...(claim === undefined ? [] : [`pvc/${claim.metadata.namespace}/${claim.metadata.name}`]),
    ...api.volumeAttachments.slice(0, 1).map(({ metadata }) => `va/${metadata.name}`),
    rootDir,
    `${rootDir}/pods`,
  ]
}

/** What a person may ask of a node; nothing but a clear error ends it. */
function lookAt(state: NodeState, names: readonly string[]): void {
  unlessClear(() => renderPlan(planNode(state, options), { ...PLAIN_SCREEN, wide: true }))
  unlessClear(() => {
    const ask = explainer(state, options)
    for (const name of names)
      unlessClear(() => renderExplanation(ask(name).explanation, { ...PLAIN_SCREEN, width: 100, wide: true }))
  })
}

function unlessClear(use: () => unknown): void {
  try {
    use()
  } catch (error) {
    if (!(error instanceof VolctlError)) throw error
  }
}

/** The swaps that are tried of a document. */
function* chosen(document: object): Generator<{ path: Path; odd: unknown }> {
  const paths = [...pathsOf(document)]
  const most = paths.length * ODD.length
  const indexes = (sample.numRuns ?? 0) >= most ? Array(most).keys() : fc.sample(fc.nat(most - 1), sample)
  for (const index of indexes) {
    yield { path: paths[Math.floor(index / ODD.length)] ?? [], odd: structuredClone(ODD[index % ODD.length]) }
  }
}

function named(path: Path, odd: unknown, error: unknown): Error {
  return new Error(`${pathText(path)} = ${JSON.stringify(odd)}: ${String(error)}`, { cause: error })
}

const HOURS = 24 * 3_600_000

function refused(document: object): boolean {
  try {
    snapshotShape(document, '')
    return false
  } catch (error) {
    if (error instanceof ShapeError) return true
    throw error
  }
}

describe.each(asked === undefined ? ['healthy/node.json'] : CAPTURED)('%s', (name) => {
  const captured: Captured = JSON.parse(readFileSync(new URL(name, CAPTURES), 'utf8'))
  const mounts = parseMountinfo(captured.mountinfo ?? '')
  const names = namesIn(captured)

  it(
    'as a snapshot is refused with the place, or looked at',
    () => {
      const [before, counts] = [JSON.stringify(captured), { refused: 0, taken: 0 }]
      // Those of the API, and as many of all.
      const { api } = captured
      for (const { path, odd } of [...chosen({ api }), ...chosen(captured)]) {
        swapped(captured, path, odd, () => {
          try {
            if (refused(captured)) counts.refused++
            else {
              counts.taken++
              lookAt({ snapshot: captured, mounts }, names)
            }
          } catch (error) {
            throw named(path, odd, error)
          }
        })
      }
      expect(JSON.parse(before)).toEqual(captured)
      expect(Math.min(counts.refused, counts.taken)).toBeGreaterThan(3)
    },
    HOURS,
  )

  it(
    'as answers of an API server is refused with the place, or looked at',
    async () => {
      const { nodeName } = captured
      const counts = { refused: 0, unread: 0, taken: 0 }
      const answers = CapturedClient.answersOf(captured.api, nodeName)
      for (const { path, odd } of chosen(answers)) {
        const client = swapped(answers, path, odd, () => new CapturedClient(structuredClone(answers)))
        try {
          const api = await readApi({ client, nodeName })
          counts[api.errors.some(({ reason }) => reason === 'BadAnswer') ? 'unread' : 'taken']++
          lookAt({ snapshot: { ...captured, api }, mounts }, names)
        } catch (error) {
          if (!(error instanceof VolctlError)) throw named(path, odd, error)
          expect(error.code, pathText(path)).toMatch(/^(?:ApiFailed|WrongMachine|NotFound)$/)
          counts.refused++
        }
      }
      expect(Math.min(counts.refused, counts.taken)).toBeGreaterThan(1)
    },
    HOURS,
  )
})
