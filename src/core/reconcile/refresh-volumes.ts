/** Mounted volumes whose content or size is behind what the API says (R807 and O28 as overruled by the contract; S23). */
import { baseName, parentOf } from '../actual/tree.ts'
import { expectedContent } from '../desired/atomic-content.ts'
import type { VolumeToMount } from '../desired/desired-state.ts'
import { nodeExpansionWanted } from '../desired/expansion.ts'
import { pluginNamed } from '../plugins/registry.ts'
import { type PlanContext, waitForKubelet } from './context.ts'
import { type Findings, notSupportedYet, type Obstacle } from './draft.ts'
import { describeWanted } from './mount-volumes.ts'

/** Adds a RemountVolume or ExpandVolume for a volume that is mounted, where a difference is shown. */
export function refreshVolume(context: PlanContext, findings: Findings, volume: VolumeToMount): void {
  if (pluginNamed(volume.plugin).refreshes) remount(context, findings, volume)
  else expand(context, findings, volume)
}

function remount(context: PlanContext, findings: Findings, volume: VolumeToMount): void {
  const { api } = context.inputs.snapshot
  if (api === undefined || volume.source === undefined) return
  const difference = firstDifference(context, volume)
  if (difference === undefined) return
  const dir = context.inputs.absolute(pluginNamed(volume.plugin).podPath(volume))
  refresh(context, findings, volume, {
    kind: 'RemountVolume',
    reason: 'ContentDiffers',
    message: `${difference}; containers that mount it by subPath keep the old content until they restart`,
    steps: [{ op: 'write', target: `${dir}/..data` }],
    rule: 'S23',
    asked: context.options.remount,
    flag: '--remount',
  })
}

/** The first difference between what the API says and what the volume shows, in words; undefined where none is shown. */
function firstDifference({ inputs }: PlanContext, volume: VolumeToMount): string | undefined {
  const { api } = inputs.snapshot
  if (api === undefined || volume.source === undefined) return undefined
  const expected = expectedContent(volume.source, volume.pod, api)
  if (expected.kind !== 'files') return undefined
  const dir = pluginNamed(volume.plugin).podPath(volume)
  const data = inputs.tree.get(`${dir}/..data`)
  if (data?.target === undefined) return inputs.tree.has(dir) ? `${inputs.absolute(dir)} has no ..data` : undefined
  const generation = `${dir}/${baseName(data.target)}`
  const found = new Map(
    inputs.tree
      .descendants(generation)
      .filter((entry) => entry.type !== 'dir')
      .map((entry) => [entry.path.slice(generation.length + 1), entry]),
  )
  for (const [path, want] of expected.files) {
    const entry = found.get(path)
    if (entry === undefined) return `${path} is missing in volume ${volume.specName}`
    if ('digest' in want && entry.digest !== undefined && entry.digest !== want.digest)
      return `${path} differs from what the API says`
    if ('size' in want && entry.size !== undefined && entry.size !== want.size)
      return `${path} differs in size from what the API says`
  }
  const extra = [...found.keys()].find((path) => !expected.files.has(path))
  return extra === undefined ? undefined : `${extra} is no longer part of volume ${volume.specName}`
}

function expand(context: PlanContext, findings: Findings, volume: VolumeToMount): void {
  const growth = nodeExpansionWanted(volume)
  if (growth === undefined) return
  const target = context.inputs.absolute(pluginNamed(volume.plugin).podPath(volume))
  refresh(context, findings, volume, {
    kind: 'ExpandVolume',
    reason: 'CapacityGrew',
    message: `PersistentVolume ${volume.specName} has grown to ${growth.to}, and its claim shows ${growth.from}`,
    steps: [{ op: 'NodeExpandVolume', target: volume.mode === 'Block' ? parentOf(target) : target }],
    rule: 'R455',
    asked: context.options.expand,
    flag: '--expand',
  })
}

interface Refresh {
  readonly kind: 'RemountVolume' | 'ExpandVolume'
  readonly reason: 'ContentDiffers' | 'CapacityGrew'
  readonly message: string
  readonly steps: readonly { readonly op: 'write' | 'NodeExpandVolume'; readonly target: string }[]
  readonly rule: string
  readonly asked: boolean
  readonly flag: string
}

function refresh(context: PlanContext, findings: Findings, volume: VolumeToMount, what: Refresh): void {
  const pod = context.classes.of(volume.podUid)?.ref ?? { uid: volume.podUid }
  const ref = describeWanted(context, volume)
  const wait = waitForKubelet(context)
  if (wait !== undefined) {
    findings.wait(what.kind, wait, what.rule, { pod, volume: ref })
    return
  }
  const blocked: Obstacle = what.asked
    ? notSupportedYet('Start the kubelet: it does it.')
    : {
        code: 'NotAsked',
        message: 'a kubelet may be held down just to keep this from the pod',
        hint: `Give ${what.flag}.`,
      }
  findings.add({
    kind: what.kind,
    reason: what.reason,
    message: what.message,
    pod,
    volume: ref,
    steps: what.steps,
    paths: what.steps.map((step) => step.target),
    after: [],
    rule: what.rule,
    removes: new Set(),
    blocked,
  })
}
