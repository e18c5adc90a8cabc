/** S3: a disk that does not show one directory or file: what is on it is not taken for absent. On the capture of a real node. */
import { expect, it } from 'vitest'
import { readSnapshot } from '../../src/core/plan/documents/snapshot-file.ts'
import type { Operation } from '../../src/core/plan/plan.ts'
import { planNode } from '../../src/core/reconcile/plan-node.ts'
import type { NodeState, TreeEntry } from '../../src/core/volumes/snapshot.ts'
import { planOptions } from '../helpers/plan-options.ts'

const planned = (state: NodeState): readonly Operation[] => planNode(state, planOptions({ orphans: true })).operations

/** As it is read where this entry answers with EIO: its name and its type, and nothing below it. */
function blind({ snapshot, ...rest }: NodeState, { path, type }: TreeEntry): NodeState {
  const seen = (snapshot.tree ?? []).filter((each) => each.path !== path && !each.path.startsWith(`${path}/`))
  return { ...rest, snapshot: { ...snapshot, tree: [...seen, { path, type, error: 'EIO' }] } }
}

/** What cannot be seen may be a directory or a file, with content or without. */
const removing = (op: string): string => (/^(rmdir|unlink|deleteContent)$/.test(op) ? 'remove' : op)

/** Of the same volume of the same pod, with no other steps. */
function isPartOf(healthy: readonly Operation[], { kind, pod, volume, steps }: Operation): boolean {
  // Of a volume whose record cannot be read only this is left.
  const kinds = kind === 'CleanOrphanVolume' ? [kind, 'UnmountVolume'] : [kind]
  const same = healthy.filter(
    (each) => kinds.includes(each.kind) && each.pod?.uid === pod?.uid && each.volume?.name === volume?.name,
  )
  const has = new Set(same.flatMap((each) => each.steps.map(({ op, target }) => `${removing(op)} ${target}`)))
  return steps.every(({ op, target }) => has.has(`${removing(op)} ${target}`))
}

it('a plan without the sight of one path does no more than the one with it', async () => {
  const capture = new URL('../fixtures/captures/forcedel-killed/before.json', import.meta.url)
  const state = await readSnapshot(capture.pathname)
  const healthy = planned(state)
  const gone = new Set(healthy.map(({ pod }) => pod?.uid))
  /** Directories and state files that something is decided on; without the list of pods there is no plan. */
  const isLookedAt = ({ path, type, content }: TreeEntry): boolean =>
    (type === 'dir' || content !== undefined) &&
    (/^plugins\/kubernetes|^pods\/[^/]+(?:\/volumes)?$/.test(path) || gone.has(path.split('/')[1])) &&
    !/\/\.\.\d|\/containers(?:\/|$)/.test(path)
  const more = (state.snapshot.tree ?? []).filter(isLookedAt).flatMap((entry) =>
    planned(blind(state, entry))
      .filter((each) => each.blocked === undefined && !isPartOf(healthy, each))
      .map(({ kind, message }) => `${entry.path}: ${kind} ${message}`),
  )
  expect([healthy.length, more]).toEqual([24, []])
})
