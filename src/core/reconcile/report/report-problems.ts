/** What is wrong on the node and not repaired by an operation: one problem each, with what to do (contract, problems). */

import { alike, take } from '../../base/text.ts'
import { uniqueNameOf } from '../../facts/row.ts'
import { namespacedName } from '../../kube/api/names.ts'
import { bringBack, deadWords, type MountInfo } from '../../linux/mount-table.ts'
import { advice, commandLine, type Hint, kubectl, volctl } from '../../messages/command.ts'
import { said, saidOfAny } from '../../messages/findings.ts'
import { stopPod } from '../../plan/commands.ts'
import { ON_NODE } from '../../plan/draft.ts'
import { aboutWanted, type PlanContext, podNameOf, useCredential } from '../../rules/context.ts'
import { reportOtherVolumes } from '../../rules/other-volume.ts'
import { endingOf, type PodClass, podListIsComplete } from '../../rules/pods/pod-classes.ts'
import { strangerHint } from '../../rules/pods/witnesses.ts'
import { unknownLinks } from '../../rules/unread.ts'
import { isRefusedList, type ReadFailure, readFailures, subjectOf } from '../../volumes/api-lookup.ts'
import { causeOfUnresolved, podPathOf, type UnresolvedVolume, type VolumeToMount } from '../../volumes/desired-state.ts'
import { areOfOneRow } from '../../volumes/finding.ts'
import { volumesInStatus } from '../../volumes/node-affinity.ts'
import { isOld, isSetUp } from '../../volumes/on-disk/staged-volumes.ts'
import { podName, podNameAndUid, podNamespace } from '../../volumes/pods.ts'
import { controllerWantedVolumes, mayWant } from '../../volumes/populate.ts'
import { evidenceOf, globalPathOf } from '../../volumes/registry.ts'
import { stagedFor } from '../../volumes/same-volume.ts'
import { CSI_PLUGIN, escapeQualifiedName, parseCsiUniqueName } from '../../volumes/volume-names.ts'
import { presentVolumes, reportAttachments, reportStatusNames } from './report-attachments.ts'
import { reportDrivers, reportVolumeObjects } from './report-drivers.ts'
import { reportNotManaged, reportTerminatedKept, reportVersion } from './report-kubelet.ts'
import { reportReadOnly } from './report-read-only.ts'

export function reportProblems(context: PlanContext): void {
  for (const pod of context.classes.all) if (pod.class === 'Frozen') reportFrozen(context, pod)
  reportUnresolved(context)
  reportReadErrors(context)
  reportAttachments(context)
  reportOldStagings(context)
  reportGlobalMounts(context)
  reportStatusNames(context)
  reportReadOnly(context)
  reportVolumeObjects(context)
  reportVersion(context)
  reportNotManaged(context)
  reportTerminatedKept(context)
  reportUnknownDeadMounts(context)
  reportMountStorms(context)
  reportNotCreated(context)
  reportOtherVolumes(context)
  reportDrivers(context)
  reportSurplus(context)
  reportNotBelieved(context)
  reportUnknownLinks(context)
}

/** S8: nothing can be decided about anything behind such a link. */
function reportUnknownLinks({ inputs, ledger, findings }: PlanContext): void {
  for (const { path, obstacle } of unknownLinks(inputs)) {
    const about = { path: inputs.absolute(path), subject: ledger.path(path) }
    findings.incomplete('error', { ...obstacle, code: 'LinkInPlace' }, about, obstacle.hint)
  }
}

/**
 * Processes and files that are not trusted are ignored (S32). The plan says so, since a person may expect that they count.
 */
function reportNotBelieved({ inputs, findings }: PlanContext): void {
  for (const { what, why, hint, unknown } of inputs.snapshot.notBelieved ?? []) {
    if (unknown) findings.complete = false
    findings.problem(unknown ? 'error' : 'info', said('NotBelieved.path', { path: what, why }), ON_NODE, hint)
  }
}

/** S5: an existing pod keeps the volumes that it has; those that it no longer wants are reported. Matched by R815. */
function reportSurplus({ classes, desired, ledger, inputs, findings }: PlanContext): void {
  const wanted = Map.groupBy(desired.volumes, ({ podUid }) => podUid)
  const unresolved = new Set(desired.unresolved.map((each) => each.podUid))
  for (const { uid: pod, class: of, ref } of classes.all) {
    if (of !== 'Desired' || unresolved.has(pod)) continue
    for (const { plugin, name, dir, stateFile } of ledger.podVolumes(pod)) {
      const data = plugin === CSI_PLUGIN ? stateFile?.data : undefined
      if (data === undefined) continue
      const its = uniqueNameOf(data)
      const isWanted = ({ uniqueName, specName }: VolumeToMount): boolean =>
        uniqueName === its || escapeQualifiedName(specName) === name
      if (wanted.get(pod)?.some(isWanted)) continue
      const about = { pod, volume: name, path: inputs.absolute(dir), subject: ledger.path(dir) }
      findings.problem('warning', said('NotDesired', { pod: podName(ref), name }), about)
    }
  }
}

function reportFrozen({ inputs, witnesses, findings }: PlanContext, { uid, ref, pod, why }: PodClass): void {
  const name = podNameAndUid(ref)
  const subject = { pod: uid }
  const about = { pod: uid, path: inputs.absolute(`pods/${uid}`), subject }
  const signs = witnesses.signsOfLife(uid).join(', ')
  const stranger = witnesses.isOnlyNested(uid) ? strangerHint(uid) : undefined
  switch (why?.is) {
    case 'runningUnlisted':
      findings.problem(
        'error',
        said('PodGoneButRunning', { name, signs }),
        about,
        stranger ?? advice`${STOP_POD} ${commandLine(...stopPod(uid))}`.alike(),
      )
      break
    case 'stranger':
      findings.problem('error', said('UnknownPodProcess.nobody', { uid }), { pod: uid, subject }, strangerHint(uid))
      break
    case 'running': {
      const ending = pod === undefined ? 'is terminating' : endingOf(pod)
      findings.problem('info', said('PodStillRunning.ending', { name, ending, signs }), about, stranger)
      break
    }
    case 'perhapsRunning':
      findings.incomplete('error', said('AlivenessUnknown.pod', { name, message: why.message }), about)
      break
    case 'static':
      findings.problem('warning', said('MayBeStatic', { name, message: why.message }), about)
  }
}

const STOP_POD = 'Stop the pod (type rmp for stopp if a container was created and never started), then plan again:'

function reportUnresolved(context: PlanContext): void {
  for (const each of context.desired.unresolved) {
    const unknown = each.cause === 'Unknown'
    // S4: enough is known about the others: they hold back only their own volume.
    if (unknown) context.findings.complete = false
    context.findings.problem(
      unknown ? 'error' : 'warning',
      said('MayBeInUse.unknown', {
        podVolumeName: each.podVolumeName,
        pod: namespacedName(each.pod.metadata),
        message: each.message,
      }),
      { pod: each.podUid, volume: each.podVolumeName, subject: context.ledger.of(each) },
      unresolvedHint(each),
      causeOfUnresolved(each),
    )
  }
}

function unresolvedHint({ cause, mayBe, volume, claimName, persistentVolumeName, pod }: UnresolvedVolume): Hint {
  if (cause === 'Absent') {
    return `The pod's directories are left alone until its ${persistentVolumeName === undefined ? 'claim' : 'PersistentVolume'} exists.`
  }
  if (cause === 'Unbound') {
    return advice`Only this pod waits for the claim. See why it is not bound: ${kubectl('describe', 'pvc', '-n', podNamespace(pod), claimName ?? 'NAME')}`
  }
  if (volume !== undefined) {
    return 'The kubelet cannot mount the volume either: repair the pod or its claim. Until then this volume alone is left as it is.'
  }
  if (mayBe.length === 0)
    return 'The kubelet cannot mount the volume either: repair the pod. No other volume is held back.'
  const which =
    mayBe === 'any'
      ? ''
      : ` of ${mayBe.map(({ plugin, driver }) => (driver === undefined ? plugin : `driver ${driver}`)).join(' or ')}`
  return cause === 'Unusable'
    ? `The kubelet cannot mount the volume either: repair the pod. Until then no device${which} is unstaged, unmapped or detached.`
    : `Use a credential that may read the object, or repair the object: until then no device${which} is unstaged, unmapped or detached.`
}

function reportReadErrors(context: PlanContext): void {
  const { api } = context.inputs.snapshot
  for (const failure of api === undefined ? [] : readFailures(api.errors)) {
    // Of pods PodListIncomplete says it.
    if (failure.notFound || failure.resource === 'pods') continue
    const object = failure.resource === undefined ? undefined : subjectOf(failure)
    const because = object === undefined ? undefined : { subject: { object } }
    const attached = failure.resource === 'volumeattachments' && isRefusedList(failure) ? mayBeAttached(context) : []
    if (attached.length > 0) {
      const hint = failure.forbidden
        ? useCredential('list volumeattachments')
        : 'Plan again once the API server answers.'
      context.findings.incomplete(
        'warning',
        said('ReadFailed.attachments', { volumes: take(attached, 5, 'and ').join(', '), error: failure.text }),
        ON_NODE,
        hint,
        because,
      )
      continue
    }
    // What pods name was read singly then, and what could not be is a separate error. What needs the list says so (S30), and
    // an attachment that only a pod which has ended names is nothing that a node's credential may read.
    if (failure.forbidden && (isRefusedList(failure) || failure.resource === 'volumeattachments')) continue
    // Content is left out of deploy/clusterrole-plan.yaml by choice, and a plan needs none but for what it would write: then that operation
    // says so. A credential that reads other content was meant to read this.
    const content = failure.resource === 'secrets' ? api?.secrets : api?.configMaps
    const isContent = ['configmaps', 'secrets'].includes(failure.resource ?? '')
    if (failure.forbidden && isContent && !content?.length) continue
    if (isOfUnresolved(context.desired.unresolved, failure)) continue
    const why = failure.text
    const finding =
      object === undefined ? said('ReadFailed.unnamed', { why }) : saidOfAny('ReadFailed', 'unread', { object, why })
    const severity = failure.forbidden ? 'info' : 'warning'
    context.findings.problem(severity, finding, ON_NODE, undefined, because)
  }
}

/** A volume that the failure holds back has its words (reportUnresolved). */
function isOfUnresolved(unresolved: readonly UnresolvedVolume[], { name, text }: ReadFailure): boolean {
  if (name === undefined) return false
  return unresolved.some(
    ({ claimName, persistentVolumeName, message }) =>
      [claimName, persistentVolumeName].includes(name) && message.endsWith(text),
  )
}

/**
 * S21: CSI volumes that no pod here wants, and whose attachment nobody could read, in the list or singly: a plan detaches only what
 * it sees.
 */
function mayBeAttached(context: PlanContext): string[] {
  const { api, nodeName } = context.inputs.snapshot
  if (api === undefined || !podListIsComplete(context.inputs)) return []
  const wanted = controllerWantedVolumes(api.pods, api, nodeName)
  const names = new Set([...volumesInStatus(api.node), ...presentVolumes(context).map((each) => each.uniqueName)])
  return [...names].toSorted().flatMap((name) => {
    const csi = parseCsiUniqueName(name)
    if (csi === undefined || mayWant(wanted, name)) return []
    if (context.uses.of(name).some(({ pod }) => pod.class === 'Desired')) return []
    if (context.objects.lookUpAttachment(csi)?.state !== 'Unknown') return []
    return [context.objects.persistentVolumesOf(csi)[0]?.metadata.name ?? csi.handle]
  })
}

/** What containers could not be given of their volumes, an image or a sub-path, once all else is set up: the kubelet tries for ever. */
function reportNotCreated({ classes, findings }: PlanContext): void {
  for (const { uid, ref, pod, class: of } of classes.all) {
    if (of !== 'Desired') continue
    const { initContainerStatuses = [], containerStatuses = [] } = pod?.status ?? {}
    const images = (pod?.spec.volumes ?? []).flatMap(({ image }) => image?.reference ?? [])
    for (const { name, state } of [...initContainerStatuses, ...containerStatuses]) {
      const { reason = '', message = '' } = state?.waiting ?? {}
      const isMount = /^(?:Create|Run)Container(?:Config)?Error$/.test(reason) && /mount/i.test(message)
      if (!isMount && !images.some((reference) => message.includes(reference))) continue
      const hint = isMount
        ? whyNotMounted(reason, message)
        : 'It is the image of a volume: see whether its reference is right, and whether this node may pull it.'
      findings.problem(
        'warning',
        said('ContainerNotCreated', { name, pod: podName(ref), reason, message }),
        { pod: uid, subject: { pod: uid } },
        hint,
      )
    }
  }
}

function whyNotMounted(reason: string, message: string): string {
  if (reason === 'CreateContainerConfigError')
    return "The kubelet itself mounts sub-paths (subPath): see what lies there in the volume; the reason is in the kubelet's log."
  return /idmap/i.test(message)
    ? 'The pod has a user namespace of its own (hostUsers: false), and the file system of the volume cannot map ids for it, as NFS cannot: take another kind of volume, or hostUsers: true.'
    : 'The container runtime, not the kubelet, mounts this: its reason is behind the last colon.'
}

/** Dead mounts that belong to no wanted volume and no operation. */
function reportUnknownDeadMounts({ inputs, ledger, findings }: PlanContext): void {
  for (const { path, error } of inputs.snapshot.deadMounts ?? []) {
    const absolute = path.startsWith('/') ? path : inputs.absolute(path)
    if (findings.isReported(absolute)) continue
    const about = { path: absolute, subject: ledger.path(absolute) }
    findings.problem(
      'warning',
      said('DeadMount.fileSystem', { path: absolute, error: deadWords(error) }),
      about,
      `${bringBack(inputs.mounts.top(absolute), error)}.`,
    )
  }
}

/** No volume is mounted this often below one pod: each of its containers has a few sub-paths at most. */
const MANY = 1000

/** On one path there are a few mounts at most, as by a bind over itself. */
const SEVERAL = 20

/** Names the place where mount propagation copies mounts (S18: the copies are foreign); such a table slows the whole node. */
function reportMountStorms(context: PlanContext): void {
  const { inputs } = context
  for (const [uid, mounts] of inputs.mounts.below(inputs.absolute('pods'))) reportStorms(context, mounts, uid)
  for (const [name, mounts] of inputs.mounts.below(inputs.rootDir)) if (name !== 'pods') reportStorms(context, mounts)
  reportStorms(context, inputs.mounts.notBelow(inputs.rootDir))
}

function reportStorms({ ledger, inputs, findings }: PlanContext, mounts: readonly MountInfo[], pod?: string): void {
  const groups = (keyOf: (mount: MountInfo) => string, least: number) =>
    mounts.length < least ? [] : alike(mounts, keyOf).filter(({ length }) => length >= least)
  const stacks = groups(({ mountPoint }) => mountPoint, SEVERAL)
  for (const copies of stacks.length > 0 ? stacks : groups(({ dev, root }) => `${dev} ${root}`, MANY)) {
    const [first = ''] = copies
      .map(({ mountPoint }) => inputs.plain(mountPoint))
      .toSorted((a, b) => a.length - b.length)
    const about = { pod, path: first, subject: ledger.path(first) }
    findings.problem(
      copies.length < MANY ? 'warning' : 'error',
      said('MountStorm', { count: copies.length, path: first }),
      about,
    )
  }
}
// Volumes that are staged elsewhere than a kubelet of today looks, or nowhere any more (C11, O1).

/**
 * C11: this kubelet stages at another path, and neither finds nor unstages what one before 1.24 has staged. Nothing is said where an
 * operation undoes it.
 */
function reportOldStagings({ inputs, staged, ledger, identify, objects, kubelet, findings }: PlanContext): void {
  for (const each of staged.filter((one) => isOld(one) && isSetUp(one))) {
    const path = inputs.absolute(each.target)
    if (findings.on(path).length > 0) continue
    const { identity } = identify.staged(each)
    const also = staged.some(
      (other) => !isOld(other) && other.layers.length > 0 && areOfOneRow(ledger.of(other), ledger.of(each)),
    )
    const volume = objects.persistentVolumesOf(identity)[0]?.metadata.name ?? each.key
    const hint = advice`Once no pod of this node uses the volume, ${kubelet.state === 'stopped' ? '' : 'with the kubelet stopped, '}volctl unstages it: ${volctl('plan', '--volume', volume)}`
    findings.problem(
      'warning',
      said('StagedAtOldPath', { volume, also: also ? 'also ' : '', path, leftover: also ? 'it is a leftover; ' : '' }),
      { volume, path, subject: ledger.of(each) },
      hint,
    )
  }
}

/** Says what a kubelet does about it: the pod runs on, and nothing has to be done by hand. */
function reportGlobalMounts(context: PlanContext): void {
  const { inputs, classes, desired } = context
  for (const volume of desired.volumes) {
    if (classes.of(volume.podUid)?.class !== 'Desired' || !lacksGlobalMount(context, volume)) continue
    const { podUid, specName } = volume
    const path = inputs.absolute(globalPathOf(volume) ?? '')
    context.findings.problem(
      'warning',
      said('GlobalMountGone', { pod: podNameOf(context, podUid), specName, path }),
      aboutWanted(context, volume, path),
    )
  }
}

/** A driver may stage without a mount; it does not where it has one for another volume, and the pod shows a whole disk. */
function lacksGlobalMount(context: PlanContext, volume: VolumeToMount): boolean {
  const { inputs, staged } = context
  const { driver, mode, deviceMountable } = volume
  if (driver === undefined || mode !== 'Filesystem' || !deviceMountable) return false
  const [global, mount] = [globalPathOf(volume), inputs.top(podPathOf(volume))]
  if (global === undefined || mount === undefined || inputs.at(global).length > 0) return false
  const found = evidenceOf(inputs, volume)
  if (found.state !== 'mounted' || found.other !== undefined || mount.dev.startsWith('0:') || mount.root !== '/')
    return false
  if (!inputs.stages(driver)) return false
  // Where a kubelet before 1.24 has staged it, it still is.
  if (stagedFor(inputs, volume).some(({ layers }) => layers.length > 0)) return false
  return staged.some(({ driverDir, layers }) => driverDir === driver && layers.length > 0)
}
