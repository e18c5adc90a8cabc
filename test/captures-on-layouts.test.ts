/**
 * The captures once more, as if their root directory were bound over itself on a shared tree (O35): every mount stands in
 * the table twice, and nothing else is different.
 */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Explanation } from '../src/core/explain/explanation.ts'
import { allThings } from '../src/core/explain/things.ts'
import { containingMount } from '../src/core/linux/location.ts'
import type { MountInfo, MountTable } from '../src/core/linux/mount-table.ts'
import { parseMountinfo } from '../src/core/linux/parse-mountinfo.ts'
import type { Plan } from '../src/core/plan/plan.ts'
import { decideNode, planNode } from '../src/core/reconcile/plan-node.ts'
import type { NodeSnapshot, NodeState } from '../src/core/volumes/snapshot.ts'
import { captureFiles, recorded } from './helpers/captures.ts'
import { explainer } from './helpers/explaining.ts'
import { planOptions } from './helpers/plan-options.ts'

/** Of a line of mountinfo the id, what it is on, and the rest. */
const LINE = /^(\d+) (\d+) (.*)$/
const COPIES_FROM = 1_000_000

/** @param order which of the two the table has first: kernels differ */
function boundOverItself({ snapshot, mounts }: NodeState, order: 'copies last' | 'copies first'): NodeState {
  const { rootDir } = snapshot
  const container = containingMount(mounts, rootDir)
  if (container === undefined) throw new Error('no root')
  const below = mounts.under(rootDir).filter(({ mountPoint }) => mountPoint !== rootDir)
  const ids = new Set(below.map(({ id }) => id))
  const bound = COPIES_FROM - 1
  const lines: string[] = []
  const copies: string[] = []
  for (const line of mounts.text.trimEnd().split('\n')) {
    const [, id = '', parent = '', rest = ''] = LINE.exec(line) ?? []
    if (Number(id) === container.id) lines.push(`${id} ${parent} ${shared(rest, container)}`, bindLine(rest, container))
    else if (!ids.has(Number(id))) lines.push(line)
    else {
      const onContainer = Number(parent) === container.id
      lines.push(`${id} ${onContainer ? bound : parent} ${rest}`)
      copies.push(`${COPIES_FROM + Number(id)} ${onContainer ? parent : COPIES_FROM + Number(parent)} ${rest}`)
    }
  }
  const [first, second] = order === 'copies last' ? [lines, copies] : [copies, lines]
  return withTable(snapshot, `${[...first, ...second].join('\n')}\n`)

  function bindLine(rest: string, { root, mountPoint }: MountInfo): string {
    const [dev, , , ...more] = rest.split(' ')
    const inside = join(root, rootDir.slice(mountPoint === '/' ? 0 : mountPoint.length))
    return `${bound} ${container?.id} ${shared([dev, inside, rootDir, ...more].join(' '), container as MountInfo)}`
  }
}

function shared(rest: string, { optionalFields }: MountInfo): string {
  return optionalFields.some((field) => field.startsWith('shared:')) ? rest : rest.replace(' - ', ' shared:999999 - ')
}

function withTable(snapshot: NodeSnapshot, mountinfo: string): NodeState {
  return { snapshot: { ...snapshot, mountinfo }, mounts: parseMountinfo(mountinfo) }
}

/** What people and scripts see of it; what it rests on are mounts by their number, and they are counted. */
function seen({ operations = [], inputs: _, ...rest }: Partial<Plan> | Partial<Explanation>): unknown {
  return { ...rest, operations: operations.map(({ expects: __, ...operation }) => operation) }
}

it.each(captureFiles())('S8, S18: every mount twice, %s: the same plan', async (file) => {
  const state = await recorded(file)
  const options = planOptions({ orphans: true })
  const { rootDir } = state.snapshot
  const targets = (mounts: MountTable): number => mounts.under(`${rootDir}/pods`).length
  const plain = seen(planNode(state, options))
  for (const order of ['copies last', 'copies first'] as const) {
    const twice = boundOverItself(state, order)
    expect(targets(twice.mounts)).toBe(2 * targets(state.mounts))
    expect(seen(planNode(twice, options))).toEqual(plain)
  }
})

it('O35: of every pod, volume and mount the same is explained as without, and of no mount that is foreign', async () => {
  const state = await recorded('stuck/before.json')
  const twice = boundOverItself(state, 'copies last')
  const { rootDir } = state.snapshot
  const { context } = decideNode(state, planOptions())
  const asked = new Set([
    ...allThings(context).map(({ ask }) => ask),
    ...state.mounts.under(rootDir).map(({ mountPoint }) => mountPoint),
  ])
  asked.delete(rootDir)
  const [plain, doubled] = [state, twice].map((each) => explainer(each, planOptions()))
  const answers = [...asked].map((what) => [plain?.(what).explanation, doubled?.(what).explanation] as const)
  expect(answers.length).toBeGreaterThan(50)
  for (const [want = {}, answer = {}] of answers) expect(seen(answer)).toEqual(seen(want))
  expect(JSON.stringify(answers)).not.toContain('ForeignMount')
})
