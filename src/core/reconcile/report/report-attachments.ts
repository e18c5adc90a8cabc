/**
 * Volumes that are mounted here while the control plane considers them detached, or is about to detach them: another node may
 * attach them, or has done so, or the disk may disappear under the mount (O7, S30). The mount table alone shows nothing
 * wrong.
 */

import { present } from '../../base/text.ts'
import { uniqueNameOf } from '../../facts/row.ts'
import type { PersistentVolume } from '../../kube/api/objects.ts'
import type { ProblemCode } from '../../messages/codes.ts'
import { advice, commandLine, type Hint, untaintOutOfService, volctl } from '../../messages/command.ts'
import { type Finding, said } from '../../messages/findings.ts'
import { whyNotManaged } from '../../node/kubelet/kubelet-flags.ts'
import { ON_NODE } from '../../plan/draft.ts'
import { howToStart, type PlanContext, stopCommand } from '../../rules/context.ts'
import { describeNodes, freeHint, nodesWith } from '../../rules/other-nodes.ts'
import { podListIsComplete } from '../../rules/pods/pod-classes.ts'
import { type Handle, handleOf } from '../../volumes/api-objects.ts'
import { mayBeNamed, podPathOf, type VolumeToMount } from '../../volumes/desired-state.ts'
import type { Subject } from '../../volumes/finding.ts'
import { flexVolume } from '../../volumes/flex-volume.ts'
import {
  accessModesText,
  allowsSeveralNodes,
  isForOnePod,
  isOutOfService,
  volumesInStatus,
} from '../../volumes/node-affinity.ts'
import { controllerWantedVolumes, statusVolumesAt } from '../../volumes/populate.ts'
import { evidenceOf, globalPathOf, pluginNamed } from '../../volumes/registry.ts'
import {
  attachmentName,
  inlineCsiHandle,
  parseCsiUniqueName,
  unescapeQualifiedName,
  uniqueVolumeName,
} from '../../volumes/volume-names.ts'

export function reportAttachments(context: PlanContext): void {
  const { api } = context.inputs.snapshot
  if (api === undefined) return
  const volumes = presentVolumes(context)
  for (const volume of volumes) {
    reportOtherWriters(context, volume)
    reportOwnAttachment(context, volume)
  }
  if (volumes.length > 0 && isOutOfService(api.node)) reportOutOfService(context, volumes)
}

/** S30: more nodes, or more pods, have the volume than its access mode allows. */
function reportOtherWriters(context: PlanContext, volume: PresentVolume): void {
  const { name, path, pods, identity, persistentVolume } = volume
  const say = problemsOf(context, volume)
  const objects = identity === undefined ? [persistentVolume] : context.objects.persistentVolumesOf(identity)
  const nodes = objects.some(allowsSeveralNodes) ? [] : nodesWith(context, volume)
  if (nodes.length > 0) {
    const hint = advice`Two nodes that write corrupt the file system: decide which node keeps the volume, and delete the pods on the other. To keep the volume on this node: ${freeHint(nodes)}`
    say(
      said('TwoWriters.mounted', { name, path, modes: accessModesText(persistentVolume), nodes: describeNodes(nodes) }),
      hint,
    )
  }
  if (isForOnePod(persistentVolume) && pods.length > 1)
    say(said('TwoWriters.pods', { name, count: pods.length, pods: pods.join(', ') }))
}

function reportOwnAttachment(context: PlanContext, volume: PresentVolume): void {
  const { objects, inputs } = context
  const { uniqueName, path, identity } = volume
  // The controller does not record volumes that the kubelet attaches.
  if (inputs.snapshot.api?.node?.status === undefined || whyNotManaged(inputs.snapshot) !== undefined) return
  const say = problemsOf(context, volume)
  const attachment = objects.attachmentOf(identity)
  const gone = whyNotAttached(context, volume)
  if (gone !== undefined) {
    const hint =
      attachment?.status?.attached === true
        ? 'Its VolumeAttachment is attached: let kube-controller-manager run, whose attach/detach controller alone writes that list.'
        : isUsed(context, volume)
          ? 'First stop the pods that use the volume on this node; then let the attach/detach controller attach it again.'
          : howToUnstage(context, volume)
    say(said('MountedButNotAttached', { uniqueName, path, why: gone }), hint)
  } else if (!objects.isInUse(uniqueName)) {
    say(said('NotReportedInUse.mounted', { uniqueName, path }), howToReport(context, volume))
  }
  const { name, deletionTimestamp } = { ...attachment?.metadata }
  if (deletionTimestamp === undefined) return
  const hint =
    'Stop the pods that use the volume on this node, so that it is unmounted before the disk is detached; the deletion cannot be undone. The attach/detach controller attaches the volume again for a pod that wants it.'
  say(said('AttachmentDeleting.mounted', { name, deletedAt: deletionTimestamp, uniqueName, path }), hint)
}

/** By a pod that is meant to run, or that runs or may. */
function isUsed({ uses }: PlanContext, { uniqueName, persistentVolume }: PresentVolume): boolean {
  return uses.of(uniqueName, persistentVolume?.metadata.name).length > 0
}

/** A running kubelet reports what it knows; what it has forgotten it never reports. */
function howToReport(context: PlanContext, volume: PresentVolume): Hint {
  const { inputs, kubelet } = context
  if (kubelet.state !== 'running')
    return advice`Unmount the volume, or ${howToStart(inputs.snapshot.kubelet)}, which reports the volume in use.`
  return isUsed(context, volume)
    ? "Look in the kubelet's log for why it does not report the volume in use, or delete the pods that use the volume."
    : howToUnstage(context, volume)
}

/**
 * Of a volume that nobody here wants there is nothing to attach: what is left of it has to go. A kubelet that does not list the
 * volume in use has forgotten the volume (O37), which is what the plan's outlook goes by.
 */
function howToUnstage({ inputs, kubelet, objects }: PlanContext, { name, uniqueName }: PresentVolume): Hint {
  const why = 'No pod here wants the volume'
  if (kubelet.state === 'stopped')
    return advice`${why}. To see how the volume is unstaged, and do it: ${volctl('apply', '--volume', name)}`.alike()
  const unit = inputs.snapshot.kubelet
  // The same as the plan's next step.
  const apply =
    unit?.unstoppable !== undefined
      ? advice`${unit.unstoppable.why}. ${unit.unstoppable.remedy}: ${commandLine(...unit.unstoppable.command)}`
      : unit?.unit === undefined
        ? advice`Stop the kubelet${stopCommand(unit)}; then: ${volctl('apply', '--volume', name)}`
        : advice`To do it while the kubelet is stopped: ${volctl('apply', '--stop-kubelet', '--volume', name)}`
  const says = objects.isInUse(uniqueName)
    ? `${why}. The kubelet unstages the volume, and after a failure tries again at least every 2 min 2 s. If that does not help:`
    : `${why}, and the kubelet never unstages it.`
  return advice`${says} ${apply}`.alike()
}

/**
 * What shows that the control plane considers the volume detached from this node. Objects that were not read show nothing
 * (S3).
 */
function whyNotAttached({ objects, inputs }: PlanContext, { uniqueName, identity }: PresentVolume): string | undefined {
  if (!objects.isAttached(uniqueName)) return 'node.status.volumesAttached does not list it'
  const attachment = objects.lookUpAttachment(identity)
  if (identity === undefined || attachment === undefined || attachment.state === 'Unknown') return undefined
  const name = attachmentName(identity.handle, identity.driver, inputs.snapshot.nodeName)
  if (attachment.state === 'Absent') return `VolumeAttachment ${name} does not exist`
  const { attached, attachError } = { ...attachment.object.status }
  if (attached === true) return undefined
  return `VolumeAttachment ${name} is not attached${attachError?.message ? `: ${attachError.message}` : ''}`
}

/** R731: the controller detaches volumes from such a node at once, mounted or not. */
function reportOutOfService({ inputs, findings }: PlanContext, present: readonly PresentVolume[]): void {
  const names = present.map(({ name }) => name)
  const hint = advice`This machine is running: stop the pods that use these volumes, or remove the taint (${untaintOutOfService(inputs.snapshot.nodeName)}).`
  findings.problem(
    'error',
    said('NodeNotReady.stillMounted', {
      volumes: names.slice(0, 5).join(', '),
      others: names.length > 5 ? `, … (${names.length})` : '',
    }),
    ON_NODE,
    hint,
  )
}

function problemsOf({ findings }: PlanContext, { name, path, subject, pods: [pod] }: PresentVolume) {
  return (finding: Finding<ProblemCode>, hint?: Hint): void =>
    findings.problem('error', finding, { pod, volume: name, path, subject: subject() }, hint)
}

// Attachable volumes that are mounted or mapped on this node, for any pod or none: they must be attached here (O7, S30).

interface PresentVolume {
  readonly uniqueName: string
  /** The spec name; for a volume that is only staged, its PersistentVolume's name, or the volume handle. */
  readonly name: string
  /** Absolute: where the volume is mounted or mapped. */
  readonly path: string
  /** UIDs of the pods that have the volume; empty: it is only staged. */
  readonly pods: readonly string[]
  /** CSI only: volumes of other plugins have no VolumeAttachment. */
  readonly identity?: Handle
  readonly persistentVolume: PersistentVolume | undefined
  /** Asked where something is wrong with it. */
  readonly subject: () => Subject
}

/** One entry for each unique name, with a pod's own path if there is one. */
export function presentVolumes(context: PlanContext): readonly PresentVolume[] {
  const { desired, inputs, ledger, objects, uses } = context
  const { api } = inputs.snapshot
  const found = new Map<string, PresentVolume>()
  const note = ({ path, ...volume }: PresentVolume): void => {
    const known = found.get(volume.uniqueName)
    const pods = [...new Set([...(known?.pods ?? []), ...volume.pods])]
    found.set(volume.uniqueName, { ...(known ?? { ...volume, path: inputs.absolute(path) }), pods })
  }
  for (const volume of desired.volumes) {
    const uniqueName = attachableName(context, volume)
    const evidence = uniqueName === undefined ? undefined : evidenceOf(inputs, volume)
    // Another volume that is mounted in its place is the one that the state file there names.
    if (uniqueName === undefined || evidence?.state !== 'mounted' || evidence.other !== undefined) continue
    const { persistentVolume, podUid, specName: name } = volume
    note({
      ...{ uniqueName, name, path: podPathOf(volume), pods: [podUid] },
      identity: handleOf(volume),
      persistentVolume,
      subject: () => ledger.wanted(volume),
    })
  }
  // Also of pods that are gone.
  for (const { pod, identity, thing } of uses.mounted) {
    const { driver, handle } = identity
    // Without the CSIDriver object it is not known whether the driver attaches volumes (S3).
    const object = api?.csiDrivers.find(({ metadata }) => metadata.name === driver)
    if (object === undefined || object.spec.attachRequired === false) continue
    // An inline volume is never attached, whatever its driver does with other volumes (C35).
    if ('podUid' in thing && handle === inlineCsiHandle(thing.podUid, thing.name)) continue
    const [persistentVolume] = objects.persistentVolumesOf(identity)
    note({
      uniqueName: uniqueNameOf(identity),
      name: 'name' in thing ? unescapeQualifiedName(thing.name) : (persistentVolume?.metadata.name ?? handle),
      path: 'target' in thing ? thing.target : thing.dir,
      pods: present(pod?.uid),
      identity,
      persistentVolume,
      subject: () => ledger.of(thing, pod?.uid),
    })
  }
  // Of other plugins a PersistentVolume gives the name by which the Node lists the volume.
  for (const each of ledger.globals) {
    const { plugin, name, path, layers } = each
    const [volume, other] = layers.length === 0 || api === undefined ? [] : statusVolumesAt(api, plugin, name)
    if (volume === undefined || other !== undefined) continue
    const { uniqueName, persistentVolume } = volume
    note({ uniqueName, name, path, pods: [], persistentVolume, subject: () => ledger.of(each) })
  }
  return [...found.values()]
}

/** The name by which the node's status lists a wanted volume; undefined: the volume is never attached, or that is unknown. */
function attachableName({ inputs }: PlanContext, volume: VolumeToMount): string | undefined {
  const { attachability, uniqueName, plugin, specName } = volume
  if (attachability === 'attachable') return uniqueName
  // Only a flexVolume driver that attaches is called to mount a device (P87).
  const global = pluginNamed(plugin) === flexVolume ? globalPathOf(volume) : undefined
  return global !== undefined && inputs.at(global).length > 0 ? uniqueVolumeName(plugin, specName) : undefined
}

// Volumes that node.status lists although this node has no pod, directory, mount or attachment of them. The controller keeps
// such a volume attached here, or considers it mounted, and no operation on the node can change that (R330, R725, R731).

export function reportStatusNames(context: PlanContext): void {
  const { api, nodeName, tree } = context.inputs.snapshot
  const names = new Set(volumesInStatus(api?.node))
  // S3: something that was not seen may explain them.
  if (api === undefined || tree === undefined || names.size === 0 || !podListIsComplete(context.inputs)) return
  const wanted = controllerWantedVolumes(api.pods, api, nodeName)
  const unresolved = [...wanted.unresolved, ...context.desired.unresolved]
  const explained = new Set([
    ...wanted.names.keys(),
    ...unresolved.flatMap(({ volume }) => volume?.uniqueName ?? []),
    ...context.desired.volumes.flatMap((volume) => [volume.uniqueName, attachableName(context, volume) ?? '']),
  ])
  for (const name of names) {
    if (explained.has(name) || unresolved.some(({ mayBe }) => mayBeNamed(mayBe, name))) continue
    const csi = parseCsiUniqueName(name)
    if (csi === undefined ? !mayBeHere(context, name) : !isExplained(context, name, csi)) reportName(context, name, csi)
  }
}

/** True if there is anything of this CSI volume on disk, in the mount table or among the attachments. */
function isExplained(context: PlanContext, name: string, csi: Handle): boolean {
  if (context.objects.lookUpAttachment(csi)?.state !== 'Absent' || context.uses.of(name).length > 0) return true
  const volumes = context.objects.persistentVolumesOf(csi).map(({ metadata }) => metadata.name)
  const names = volumes.length === 0 ? [undefined] : volumes
  return names.some((volume) => context.uses.traces(csi, volume).length > 0)
}

/** True if something of the name's plugin is here that no wanted volume explains: that may be the listed volume. */
function mayBeHere({ desired, ledger }: PlanContext, name: string): boolean {
  // By its path: it has the port of an iSCSI portal, which the wanted volume's name may lack (R014).
  const known = new Set(desired.volumes.map((volume) => globalPathOf(volume)))
  return ledger.all.some(({ wanted, onDisk, globals, maps }) => {
    const left = [...onDisk, ...globals.filter(({ path }) => !known.has(path)), ...maps]
    return wanted.length === 0 && left.some(({ plugin }) => name.startsWith(`${plugin}/`))
  })
}

function reportName({ inputs, objects, kubelet, findings }: PlanContext, name: string, csi: Handle | undefined): void {
  const { nodeName } = inputs.snapshot
  const [known, ...others] = objects.persistentVolumesOf(csi)
  const volume = known === undefined || others.length > 0 ? name : known.metadata.name
  const lists = present(objects.isAttached(name) && 'volumesAttached', objects.isInUse(name) && 'volumesInUse')
  const hint = !objects.isInUse(name)
    ? 'The attach/detach controller corrects the list. If it does not, search the log of kube-controller-manager for the name.'
    : kubelet.state === 'running'
      ? 'Restart the kubelet, which then builds the list again, or search its log for the name. Until then the attach/detach controller gives what the list names to no other node.'
      : advice`To update the list, ${howToStart(inputs.snapshot.kubelet)}; the attach/detach controller then releases for other nodes what the list no longer names.`
  findings.problem(
    'warning',
    said('ReportedUnused.listed', { volume, lists: lists.join(' and '), nodeName }),
    { volume, subject: { row: name } },
    hint,
  )
}
