/**
 * Phase 3 of the pass: staged file systems that no pod on this node needs any more (R415, R442, C80; O8, O9). The kubelet
 * forgets them once no pod directory refers to them (R517); volctl finds them by the staging directories.
 */

import { type Identified, uniqueNameOf } from '../../facts/row.ts'
import { said } from '../../messages/findings.ts'
import { type Draft, removedBy } from '../../plan/draft.ts'
import { type PlanContext, waitForKubelet } from '../../rules/context.ts'
import { strayOf } from '../../rules/rule.ts'
import { unreadWithin } from '../../rules/unread.ts'
import { rowOf } from '../../volumes/finding.ts'
import { isGateOn } from '../../volumes/kubelet-version.ts'
import { isOld, isSetUp, type StagedVolume } from '../../volumes/on-disk/staged-volumes.ts'
import { CSI_PLUGIN, escapeQualifiedName } from '../../volumes/volume-names.ts'
import { describeCsiVolume, withGivenDevice } from '../identity/volume-facts.ts'
import { csiSteps, tearDown } from '../tear-down/tear-down.ts'
import { isUnidentified, type Kept, showSameDevice, stagedParts } from './staged-parts.ts'

export function unmountDevices(context: PlanContext): void {
  // A staged file system is never one of a raw block volume.
  const unidentified = context.findings.operations.filter(
    (each) => isUnidentified(each) && each.volume?.mode === 'Filesystem',
  )
  const hasOld = context.staged.some(isOld)
  for (const staged of context.staged) {
    const row = hasOld ? context.ledger.row(rowOf(context.ledger.of(staged)) ?? '') : undefined
    // Today's path of a volume's staging first, then that of a kubelet before 1.24 (C11).
    const alike = row?.staged.filter(isSetUp).toSorted((a, b) => Number(isOld(a)) - Number(isOld(b)))
    const all = alike?.includes(staged) ? alike : [staged]
    // One operation undoes both stagings of a volume: to the driver they are one.
    if (all[0] !== staged) continue
    if (isSetUp(staged)) unmountDevice(context, staged, all, unidentified)
    else removeEmptyDirectory(context, staged)
  }
}

/**
 * @param stagings with the same volume at the path of before 1.24
 * @param unidentified operations on mounts that may be of this volume
 */
function unmountDevice(
  context: PlanContext,
  staged: StagedVolume,
  stagings: readonly StagedVolume[],
  unidentified: readonly Draft[],
): void {
  const { inputs, ledger, objects, findings } = context
  const { target: path, layers, stateFile, key } = staged
  const others = stagings.slice(1)
  const identified = context.identify.staged(staged)
  const { identity } = identified
  const uniqueName = identity && uniqueNameOf(identity)
  const names = objects.persistentVolumesOf(identity).map(({ metadata }) => metadata.name)
  // Without a staged mount no device shows which sub-paths are of this volume (R418).
  const leaked = layers.length > 0 ? [] : names.flatMap((name) => findings.leakedOf(escapeQualifiedName(name)))
  const found =
    whyKept(context, staged, identified, uniqueName) ??
    stagedParts(context, {
      ...{ path, identity, stateFile, mounts: staged.foreign, files: staged.content },
      layers: stagings.flatMap((each) => each.layers),
      predecessors: [...findings.ofVolume(uniqueName ?? ''), ...leaked].filter(({ kind }) => !kind.startsWith('Mount')),
    })
  if ('why' in found) {
    findings.leave({ path: inputs.absolute(path), ...found }, () => ledger.of(staged))
    return
  }
  const subject = ledger.of(staged)
  const { call, unstages, ofDriver, stacks, foreign, strangers, held, after } = found
  const shown = [...layers, ...ofDriver]
  const described = describeCsiVolume(context, {
    name: after[0]?.volume?.name ?? identity?.handle ?? key,
    mode: 'Filesystem',
    identity,
    device: shown.at(-1),
  })
  tearDown(context, {
    kind: 'UnmountDevice',
    subject,
    volume: withGivenDevice(context, described),
    ...said('LastPodGone'),
    rule: 'R415',
    ...(after.length === 0 && {
      ...said('StagedWithoutPod.staged', { path: inputs.absolute(path) }),
      rule: 'R820',
      kubeletWould: 'never find the staged volume again; the attach/detach controller may detach it while it is staged',
    }),
    steps: stagings.flatMap((each) => csiSteps(context, unstages ? 'NodeUnstageVolume' : undefined, each, each)),
    paths: [path, ...stacks.map((stack) => stack.path)],
    mounts: [...stagings.map((each) => ({ path: each.target, layers: each.layers })), ...stacks],
    foreign: [...foreign, ...others.flatMap((each) => each.foreign)],
    stray: [{ target: path, content: strangers }, ...others]
      .map((each) => strayOf(each.content, { target: each.target }))
      .find((each) => each !== undefined),
    identified,
    // In the old layout the path alone has the volume's name.
    device: { names: isOld(staged) ? [...names, key] : names },
    held,
    unidentified: () => (shown.length > 0 ? undefined : mayBeMounted(context, names, unidentified, after)),
    call,
    after,
  })
}

function whyKept(
  context: PlanContext,
  { layers, driverDir }: StagedVolume,
  identified: Identified,
  uniqueName: string | undefined,
): Kept | undefined {
  const [user] = context.uses.of(uniqueName)
  if (user !== undefined) return { rule: 'R817', why: `pod ${user.pod.uid} ${user.how}` }
  if (context.kubelet.state === 'running' && isGateOn(context.inputs.snapshot, 'CSIGlobalMountReconstruction'))
    return { rule: 'N73', why: 'the kubelet finds and unstages what is staged without a pod' }
  // The volume could not be identified, and no mount shows who uses it: any pod with a volume of this driver may.
  return identified.unconfirmed !== undefined &&
    layers.length === 0 &&
    context.desired.volumes.some(({ driver }) => driver === driverDir)
    ? { rule: 'R025', why: `${identified.unconfirmed.message}, and pods on this node want volumes of this driver` }
    : undefined
}

/**
 * S17, S24: a driver may stage without a mount (C20), and then no device shows that a mount that could not be identified is
 * another volume's. It is not this one's if another pod's mount of this volume shows another device, and its directory has
 * another PersistentVolume's name.
 */
function mayBeMounted(
  { findings }: PlanContext,
  names: readonly string[],
  unidentified: readonly Draft[],
  after: readonly Draft[],
): Draft | undefined {
  const shown = after.filter((each) => removedBy(each).length > 0)
  const alike = new Set(names.flatMap((name) => findings.unnamed(CSI_PLUGIN, escapeQualifiedName(name))))
  return unidentified.find(
    (each) => shown.length === 0 || shown.some((other) => showSameDevice(other, each)) || alike.has(each),
  )
}

/**
 * What a driver without staging leaves (R025, C50), and an unstage that was killed before its last step (R837): an empty directory that
 * does not show its volume. S12: drivers keep their own directories there; those of the kubelet are named by a hash, or are in the old
 * layout (C10, C11).
 */
function removeEmptyDirectory(context: PlanContext, staged: StagedVolume): void {
  const { inputs, ledger, findings } = context
  const { dir, key, driverDir } = staged
  const isLeftover = (isOld(staged) || /^[0-9a-f]{64}$/.test(key)) && !staged.hasTarget && staged.content.length === 0
  const why = !isLeftover
    ? 'nothing is staged there'
    : ledger.wants.stagesIn(dir)
      ? 'the directory is empty, and a pod wants its volume'
      : waitForKubelet(context)?.message
  if (why !== undefined) {
    const rule = isLeftover ? 'R837' : 'R025'
    findings.leave({ path: inputs.absolute(staged.target), rule, why }, () => ledger.of(staged))
    return
  }
  const subject = ledger.of(staged)
  const unread = unreadWithin(inputs, dir)
  tearDown(context, {
    kind: 'UnmountDevice',
    subject,
    volume: { name: key, plugin: CSI_PLUGIN, driver: driverDir, mode: 'Filesystem' },
    ...said(unread === undefined ? 'StagedWithoutPod.empty' : 'StagedWithoutPod.mayBeEmpty', {
      path: inputs.absolute(dir),
    }),
    rule: 'R837',
    steps: [{ op: 'rmdir', target: dir }],
    unread,
  })
}
