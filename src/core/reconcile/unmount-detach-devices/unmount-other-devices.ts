/** Global mounts of plugins other than CSI: local volumes on devices, iSCSI, FC, flexVolume (R445, P67, P76, P81, P88, S25). */
import { type GlobalMount, globalMounts, LOCAL_PLUGIN } from '../../actual/global-mounts.ts'
import { FC_PLUGIN, fcUniqueName, parseFcDirectory } from '../../names/fc-disk.ts'
import { ISCSI_PLUGIN, iscsiUniqueName, parseIscsiDirectory } from '../../names/iscsi-disk.ts'
import { uniqueVolumeName } from '../../names/volume-names.ts'
import { type Draft, expectedMount, type Findings, type Obstacle } from '../../plan/draft.ts'
import type { Step } from '../../plan/plan.ts'
import { type PlanContext, waitForKubelet } from '../context/context.ts'
import { foreignObstacle, layerObstacle, umountSteps } from '../context/layers.ts'
import { reportDriverGone } from '../drivers/driver-call.ts'
import { type FlexCall, flexCall } from '../drivers/flex-driver.ts'
import { describeDevice } from '../identity/volume-facts.ts'
import { deviceObstacle, predecessorObstacle } from '../obstacles/device-obstacles.ts'
import { isDeviceWanted } from '../obstacles/device-users.ts'
import { referencesTo } from '../obstacles/mount-references.ts'

export function unmountOtherDevices(context: PlanContext, findings: Findings): void {
  for (const global of globalMounts(context.inputs)) {
    if (isWanted(context, global)) leaveGlobal(context, findings, global, 'R815', 'a pod of this node wants it, or may')
    else unmountGlobal(context, findings, global)
  }
}

function isWanted(context: PlanContext, { plugin, name, layers }: GlobalMount): boolean {
  if (plugin === LOCAL_PLUGIN) return context.users.of(uniqueVolumeName(plugin, name)).length > 0
  return isDeviceWanted(context, plugin, name, layers.length > 0)
}

function leaveGlobal(
  { inputs }: PlanContext,
  findings: Findings,
  { path, plugin, name }: GlobalMount,
  rule: string,
  why: string,
): void {
  const target = inputs.absolute(path)
  findings.leave(() => ({ path: target, rule, why, volume: globalUniqueName(plugin, target, name) }))
}

function unmountGlobal(context: PlanContext, findings: Findings, global: GlobalMount): void {
  const { plugin, name, path, layers } = global
  const target = context.inputs.absolute(path)
  const references = referencesTo(context, findings, layers, target)
  if (references.kind === 'inUse') {
    leaveGlobal(context, findings, global, 'S24', `pod ${references.by.uid} shows the same file system`)
    return
  }
  const volume = {
    name,
    uniqueName: globalUniqueName(plugin, target, name),
    plugin,
    mode: 'Filesystem' as const,
    ...describeDevice(layers.at(-1)),
  }
  const wait = waitForKubelet(context)
  if (wait !== undefined) {
    findings.wait('UnmountDevice', wait, 'S11', { volume })
    return
  }
  const call = global.flex ? flexCall(context, plugin) : undefined
  // Of what is not mounted nobody can say which pods' mounts it was: all of the plugin's go first.
  const after = layers.length === 0 ? unmountsOf(findings, plugin) : references.kind === 'free' ? references.after : []
  const blocked =
    foreignObstacle(context, global.foreign) ??
    layerObstacle(context, target, layers) ??
    contentObstacle(context, global) ??
    (call?.kind === 'blocked' && layers.length > 0 ? call.blocked : undefined) ??
    deviceObstacle(context, plugin, undefined, name) ??
    (references.kind === 'held' ? references.obstacle : undefined) ??
    predecessorObstacle(after)
  if (call?.kind === 'gone' && layers.length > 0)
    reportDriverGone(findings, plugin, 'unmountdevice', { volume: name, path: target })
  const steps = stepsOf(context, global, target, call)
  findings.add({
    kind: 'UnmountDevice',
    reason: after.length === 0 ? 'StagedWithoutPod' : 'LastPodGone',
    message:
      layers.length > 0
        ? `no pod of this node wants ${name}`
        : `no pod of this node wants ${name}; it is not mounted any more, and what is left of it is taken down`,
    volume,
    steps,
    paths: [...new Set(steps.map((step) => step.target))],
    after: [...after],
    rule: 'R445',
    expects: layers.length === 0 ? [] : [expectedMount(target, layers)],
    removes: new Set(layers.map((layer) => layer.id)),
    ...(blocked === undefined ? {} : { blocked }),
  })
}

/**
 * In the kubelet's order: unmount, devices, log-out, and only then what tells how to log out (R837). iscsi.json lies
 * hidden below the mount (P72), so that whose devices and sessions these are is read when it has gone.
 */
function stepsOf(context: PlanContext, global: GlobalMount, target: string, call: FlexCall | undefined): Step[] {
  const umounts = umountSteps(context, target, global.layers)
  // Told to force the mount, or to let it go, volctl does not ask the driver.
  const asked = umounts.some(({ detail }) => detail === 'force' || detail === 'lazy')
  const first: Step[] =
    call?.kind === 'call' && umounts.length > 0 && !asked
      ? [{ op: 'flexUnmountDevice', target, detail: call.executable }]
      : umounts
  return [...first, ...releaseSteps(global.plugin, target), { op: 'rmdir', target }]
}

/** What has to be released on the node once nothing is mounted or mapped any more, and the record of it (P76, P81, P84). */
export function releaseSteps(plugin: string, target: string): Step[] {
  if (plugin === FC_PLUGIN) return [{ op: 'removeFcDisks', target }]
  if (plugin !== ISCSI_PLUGIN) return []
  return [
    { op: 'removeIscsiDisks', target },
    { op: 'iscsiLogout', target, detail: 'unless another LUN of the session is in use' },
    { op: 'unlink', target: `${target}/iscsi.json` },
  ]
}

export function globalUniqueName(plugin: string, path: string, name: string): string {
  const iscsi = plugin === ISCSI_PLUGIN ? parseIscsiDirectory(path) : undefined
  if (iscsi !== undefined) return iscsiUniqueName(iscsi)
  const fc = plugin === FC_PLUGIN ? parseFcDirectory(name) : undefined
  return fc === undefined ? uniqueVolumeName(plugin, name) : fcUniqueName(fc)
}

/** Those that will be carried out: who still has the device is asked at apply, whatever the order. */
function unmountsOf(findings: Findings, plugin: string): Draft[] {
  return findings.operations.filter(
    ({ kind, volume, blocked }) =>
      (kind === 'UnmountVolume' || kind === 'CleanOrphanVolume') && volume?.plugin === plugin && blocked === undefined,
  )
}

/** S13: nothing but the kubelet's own record may lie in an unmounted global directory. */
function contentObstacle(context: PlanContext, { plugin, path, content }: GlobalMount): Obstacle | undefined {
  const record = `${path}/iscsi.json`
  const stray = content.find(
    (entry) => plugin !== ISCSI_PLUGIN || entry.path !== record || entry.type !== 'file' || entry.error !== undefined,
  )
  if (stray === undefined) return undefined
  const why =
    stray.path === record
      ? `is no record of the kubelet's (${stray.error ?? stray.type})`
      : "is not of the kubelet's making"
  return {
    code: 'UnexpectedFile',
    message: `${context.inputs.absolute(stray.path)} ${why}`,
    hint: 'Look at it; move it away or delete it yourself, then plan again.',
  }
}
