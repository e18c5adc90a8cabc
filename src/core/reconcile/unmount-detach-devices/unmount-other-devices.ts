/** Global mounts of plugins other than CSI: local volumes on devices, iSCSI, FC, flexVolume (R445, P67, P76, P81, P88, S25). */

import { baseName } from '../../actual/tree.ts'
import { CLEAR_AWAY } from '../../codes/path-codes.ts'
import { type GlobalMount, globalUniqueName } from '../../devices/global-mounts.ts'
import { isDeviceOf } from '../../devices/whose-device.ts'
import { escapeQualifiedName, uniqueVolumeName } from '../../names/volume-names.ts'
import type { Draft, Findings, Obstacle } from '../../plan/draft.ts'
import type { Step } from '../../plan/plan.ts'
import { localVolume } from '../../plugins/local-volume.ts'
import { pluginNamed } from '../../plugins/registry.ts'
import { type PlanContext, waitForKubelet } from '../context/context.ts'
import { umountSteps } from '../context/layers.ts'
import { callObstacle, reportDriverGone } from '../drivers/driver-call.ts'
import { type FlexCall, flexCall } from '../drivers/flex-driver.ts'
import { describeDevice } from '../identity/volume-facts.ts'
import { deviceObstacle } from '../obstacles/device-obstacles.ts'
import { type References, referencesTo } from '../obstacles/mount-references.ts'
import { isLiving } from '../pods/volume-users.ts'
import { type Parts, tearDown } from '../tear-down/tear-down.ts'

export function unmountOtherDevices(context: PlanContext, findings: Findings): void {
  for (const global of context.ledger.globals) {
    if (isWanted(context, global))
      leaveGlobal(context, findings, global, 'R815', 'a pod on this node wants the volume, or may want it')
    else unmountGlobal(context, findings, global)
  }
}

function isWanted(context: PlanContext, { plugin, name, layers }: GlobalMount): boolean {
  if (plugin === localVolume.name) return context.users.of(uniqueVolumeName(plugin, name)).length > 0
  return isDeviceWanted(context, plugin, name, layers.length > 0)
}

function leaveGlobal(
  { inputs, ledger }: PlanContext,
  findings: Findings,
  global: GlobalMount,
  rule: string,
  why: string,
): void {
  findings.leave(() => ({
    path: inputs.absolute(global.path),
    rule,
    why,
    subject: ledger.global(global),
    volume: globalUniqueName(global.plugin, global.path),
  }))
}

function unmountGlobal(context: PlanContext, findings: Findings, global: GlobalMount): void {
  const { plugin, name, path, layers } = global
  const target = context.inputs.absolute(path)
  const references = referencesTo(context, findings, layers, target)
  if (references.kind === 'inUse') {
    leaveGlobal(context, findings, global, 'S24', `pod ${references.by.uid} has the same file system mounted`)
    return
  }
  const volume = {
    name,
    uniqueName: globalUniqueName(plugin, path),
    plugin,
    mode: 'Filesystem' as const,
    ...describeDevice(layers.at(-1)),
  }
  const subject = context.ledger.global(global)
  tearDown(context, findings, { kind: 'UnmountDevice', volume, subject, wait: waitForKubelet(context) }, () => {
    // If nothing is mounted, any pod's mount may have been of this device: all operations of this plugin come first.
    const free = references.kind === 'free' ? references.after : []
    return partsOf(context, findings, global, layers.length === 0 ? unmountsOf(findings, plugin) : free, references)
  })
}

function partsOf(
  context: PlanContext,
  findings: Findings,
  global: GlobalMount,
  after: readonly Draft[],
  references: References,
): Parts {
  const { plugin, name, path, layers, foreign } = global
  const target = context.inputs.absolute(path)
  const call = global.flex ? flexCall(context, plugin) : undefined
  const mounted = layers.length > 0
  if (call?.kind === 'gone' && mounted)
    reportDriverGone(findings, plugin, 'unmountdevice', {
      ...{ volume: name, path: target },
      subject: context.ledger.global(global),
    })
  return {
    reason: after.length === 0 ? 'StagedWithoutPod' : 'LastPodGone',
    rule: 'R445',
    message: whyUnmounted(target, mounted, after),
    steps: stepsOf(context, global, target, call),
    mounts: [{ path: target, layers }],
    foreign,
    obstacle: () =>
      contentObstacle(context, global) ??
      (mounted ? callObstacle(call) : undefined) ??
      deviceObstacle(context, plugin, undefined, name) ??
      (references.kind === 'held' ? references.obstacle : undefined),
    after,
  }
}

function whyUnmounted(target: string, mounted: boolean, after: readonly Draft[]): string {
  if (!mounted) return 'no pod on this node wants the volume, which is no longer mounted, but not fully torn down'
  if (after.length > 0) return 'its last pod on this node is gone'
  return `still mounted on ${target}, but no pod directory refers to it`
}

/**
 * In the kubelet's order: unmount, devices, log-out, and only then the record that log-out needs (R837). The mount hides
 * iscsi.json (P72), so apply reads after the unmount whose devices and sessions these are.
 */
function stepsOf(context: PlanContext, global: GlobalMount, target: string, call: FlexCall | undefined): Step[] {
  const umounts = umountSteps(context, target, global.layers)
  // With --force-unmount or --lazy, the driver is not called.
  const asked = umounts.some(({ detail }) => detail === 'force' || detail === 'lazy')
  const first: Step[] =
    call?.kind === 'call' && umounts.length > 0 && !asked
      ? [{ op: 'flexUnmountDevice', target, detail: call.executable }]
      : umounts
  return [...first, ...releaseSteps(global.plugin, target), { op: 'rmdir', target }]
}

/**
 * Steps that release the device on the node once nothing is mounted or mapped any more, and remove its record (P76, P81,
 * P84).
 */
export function releaseSteps(plugin: string, target: string): readonly Step[] {
  return pluginNamed(plugin).device?.release?.(target) ?? []
}

/** Unmounts that will be carried out. Apply checks whether the device is still in use, in any order. */
function unmountsOf(findings: Findings, plugin: string): Draft[] {
  return findings.operations.filter(
    ({ kind, volume, blocked }) =>
      (kind === 'UnmountVolume' || kind === 'CleanOrphanVolume') && volume?.plugin === plugin && blocked === undefined,
  )
}

/** S13: an unmounted global directory may contain only the kubelet's own record. */
function contentObstacle(context: PlanContext, { plugin, path, content }: GlobalMount): Obstacle | undefined {
  const name = pluginNamed(plugin).device?.record?.name
  const record = name === undefined ? undefined : `${path}/${name}`
  const stray = content.find((entry) => entry.path !== record || entry.type !== 'file' || entry.error !== undefined)
  if (stray === undefined) return undefined
  const why =
    stray.path === record
      ? `is not a record of the kubelet (${stray.error ?? stray.type})`
      : 'was not created by the kubelet'
  return {
    code: 'UnexpectedFile',
    message: `${context.inputs.absolute(stray.path)} ${why}`,
    hint: CLEAR_AWAY,
  }
}

/**
 * By name: a pod wants exactly this target and LUN, WWN and LUN, WWID or flexVolume; or in doubt: a pod that must not be
 * disturbed has a volume of the plugin that could not be identified. Mounts are judged by device, in `referencesTo`.
 *
 * @param name of the global directory
 * @param mounted whether anything is mounted on it, so that its pods' mounts can be recognised
 */
function isDeviceWanted(context: PlanContext, plugin: string, name: string, mounted: boolean): boolean {
  const wanted = context.ledger.wants.ofPlugin(plugin)
  if (wanted.some((volume) => isDeviceOf(volume, plugin, name))) return true
  return context.classes.all.some(
    (pod) => isLiving(pod) && hasUnidentifiedVolume(context, pod.uid, { plugin, name, mounted }),
  )
}

interface GlobalDirectory {
  readonly plugin: string
  readonly name: string
  readonly mounted: boolean
}

function hasUnidentifiedVolume(
  { inputs, ledger }: PlanContext,
  podUid: string,
  { plugin, name, mounted }: GlobalDirectory,
): boolean {
  return inputs.tree.children(`pods/${podUid}/volumes/${escapeQualifiedName(plugin)}`).some((directory) => {
    const specName = baseName(directory.path)
    // A flexVolume's global directory has the same name as the pod's.
    if (specName === name) return true
    if (ledger.wants.has(podUid, plugin, specName)) return false
    return !mounted || inputs.at(directory.path).length === 0
  })
}
