/** Global mounts of plugins other than CSI: local volumes on devices, iSCSI, FC, flexVolume (R445, P67, P76, P81, S25). */
import { baseName } from '../actual/tree.ts'
import type { MountInfo } from '../mountinfo/mount-table.ts'
import type { VolumeRef } from '../plan/plan.ts'
import { type PlanContext, waitForKubelet } from './context.ts'
import { deviceObstacle, predecessorObstacle } from './device-obstacles.ts'
import { expectedMount, type Findings } from './draft.ts'
import { layerObstacle, umountSteps } from './layers.ts'
import { referencesTo } from './references.ts'

const LOCAL_MOUNTS = 'plugins/kubernetes.io/local-volume/mounts'

/** Global directories whose undoing needs more than an unmount: log out, flush, or a driver's own call. */
const SESSION_PLUGINS = [
  { plugin: 'kubernetes.io/iscsi', prefix: 'plugins/kubernetes.io/iscsi/' },
  { plugin: 'kubernetes.io/fc', prefix: 'plugins/kubernetes.io/fc/' },
  { plugin: 'flexvolume', prefix: 'plugins/kubernetes.io/flexvolume/' },
]

export function unmountOtherDevices(context: PlanContext, findings: Findings): void {
  const stacks = new Map<string, MountInfo[]>()
  for (const mount of context.inputs.pluginMounts()) {
    const path = context.inputs.relative(context.inputs.plain(mount.mountPoint))
    const layers = stacks.get(path)
    if (layers === undefined) stacks.set(path, [mount])
    else layers.push(mount)
  }
  for (const [path, layers] of stacks) {
    if (path.startsWith(`${LOCAL_MOUNTS}/`) && path.split('/').length === 5)
      unmountLocal(context, findings, path, layers)
    const session = SESSION_PLUGINS.find((each) => path.startsWith(each.prefix) && !path.includes('/volumeDevices/'))
    if (session !== undefined) unmountSession(context, findings, session.plugin, path, layers)
  }
}

function unmountLocal(context: PlanContext, findings: Findings, path: string, layers: readonly MountInfo[]): void {
  const name = baseName(path)
  const uniqueName = `kubernetes.io/local-volume/${name}`
  if (context.users.of(uniqueName).length > 0) return
  unmountGlobal(
    context,
    findings,
    { name, uniqueName, plugin: 'kubernetes.io/local-volume', mode: 'Filesystem' },
    path,
    layers,
  )
}

/** S25: volctl does not yet log out or flush, so it does not unmount either: the device would be left half undone. */
function unmountSession(
  context: PlanContext,
  findings: Findings,
  plugin: string,
  path: string,
  layers: readonly MountInfo[],
): void {
  // plugins/kubernetes.io/flexvolume/VENDOR/DRIVER/mounts/NAME (P86)
  const [, , , vendor, driver] = path.split('/')
  const owner = plugin === 'flexvolume' ? `${vendor}/${driver}` : plugin
  if (context.users.ofPlugin(owner).length > 0) return
  unmountGlobal(context, findings, { name: baseName(path), plugin, mode: 'Filesystem' }, path, layers, {
    code: 'PluginUnsupported',
    message: `${plugin} needs its session or driver to be released after the unmount, which this version does not do`,
    hint: 'Unmount it and log out (or call the driver) by hand.',
  })
}

function unmountGlobal(
  context: PlanContext,
  findings: Findings,
  volume: VolumeRef,
  path: string,
  layers: readonly MountInfo[],
  unsupported?: { code: 'PluginUnsupported'; message: string; hint: string },
): void {
  const target = context.inputs.absolute(path)
  const references = referencesTo(context, findings, layers, target)
  if (references.kind === 'inUse') return
  const device = layers.at(-1)
  const described = { ...volume, ...(device === undefined ? {} : { device: `${device.dev} ${device.source}` }) }
  const wait = waitForKubelet(context)
  if (wait !== undefined) {
    findings.wait('UnmountDevice', wait, 'S11', { volume: described })
    return
  }
  const after = references.kind === 'free' ? references.after : []
  const blocked =
    layerObstacle(context, target, layers) ??
    unsupported ??
    deviceObstacle(context, undefined) ??
    (references.kind === 'held' ? references.obstacle : undefined) ??
    predecessorObstacle(after)
  findings.add({
    kind: 'UnmountDevice',
    reason: after.length === 0 ? 'StagedWithoutPod' : 'LastPodGone',
    message: `no pod of this node wants ${volume.name}`,
    volume: described,
    steps: [...umountSteps(context, target, layers), { op: 'rmdir', target }],
    paths: [target],
    after: [...after],
    rule: 'R445',
    expects: [expectedMount(target, layers)],
    removes: new Set(layers.map((layer) => layer.id)),
    ...(blocked === undefined ? {} : { blocked }),
  })
}
