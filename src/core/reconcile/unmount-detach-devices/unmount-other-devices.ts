/** Global mounts of plugins other than CSI: local volumes on devices, iSCSI, FC, flexVolume (R445, P67, P76, P81, P88, S25). */

import { present } from '../../base/text.ts'
import { type GlobalMount, globalUniqueName } from '../../facts/global-mounts.ts'
import { said } from '../../messages/findings.ts'
import type { Draft } from '../../plan/draft.ts'
import { type PlanContext, umountSteps } from '../../rules/context.ts'
import { flexCall, flexSteps } from '../../rules/driver-call.ts'
import { isLiving } from '../../rules/pods/pod-classes.ts'
import { type Stray, strayOf } from '../../rules/rule.ts'
import { localVolume } from '../../volumes/local-volume.ts'
import { baseName } from '../../volumes/on-disk/tree.ts'
import { isDeviceOf, pluginNamed } from '../../volumes/registry.ts'
import type { Step } from '../../volumes/steps.ts'
import { escapeQualifiedName, uniqueVolumeName } from '../../volumes/volume-names.ts'
import { describeDevice } from '../identity/volume-facts.ts'
import { tearDown } from '../tear-down/tear-down.ts'
import { referencesTo } from './staged-parts.ts'

export function unmountGlobal(context: PlanContext, global: GlobalMount): void {
  const { plugin, name, path, layers, foreign, flex } = global
  const uniqueName = globalUniqueName(plugin, path)
  const mounted = layers.length > 0
  const found = isWanted(context, global)
    ? { rule: 'R815', why: 'a pod on this node wants the volume, or may want it' }
    : referencesTo(context, layers, path)
  if ('why' in found) {
    context.findings.leave({ path: context.inputs.absolute(path), ...found }, () => context.ledger.of(global))
    return
  }
  const subject = context.ledger.of(global)
  // If nothing is mounted, any pod's mount may have been of this device: all unmounts of this plugin that will be carried out come
  // first. Apply checks whether the device is still in use, in any order.
  const isUnmount = ({ kind, volume, blocked }: Draft): boolean =>
    (kind === 'UnmountVolume' || kind === 'CleanOrphanVolume') && volume?.plugin === plugin && blocked === undefined
  const after = mounted ? found.after : context.findings.operations.filter(isUnmount)
  const call = flex ? flexCall(context, plugin) : undefined
  const umounts = umountSteps(context, global)
  tearDown(context, {
    kind: 'UnmountDevice',
    subject,
    volume: { name, uniqueName, plugin, mode: 'Filesystem', ...describeDevice(layers.at(-1)) },
    ...(mounted
      ? said('StagedWithoutPod.mounted', { path: context.inputs.absolute(path) })
      : said('StagedWithoutPod.notMounted')),
    ...(after.length > 0 && (mounted ? said('LastPodGone') : { code: 'LastPodGone' })),
    rule: 'R445',
    // In the kubelet's order: unmount, devices, log-out, and only then the record that log-out needs (R837). The mount hides
    // iscsi.json (P72), so apply reads after the unmount whose devices and sessions these are.
    steps: [
      ...(umounts.length > 0 ? flexSteps('flexUnmountDevice', umounts, path, call) : []),
      ...releaseSteps(plugin, path),
    ],
    mounts: [global],
    foreign,
    stray: strayIn(global),
    call: mounted ? call : undefined,
    device: {},
    held: found.held,
    after,
  })
}

/**
 * Steps that release the device on the node once nothing is mounted or mapped any more, and remove its record and directory (P76,
 * P81, P84).
 */
export function releaseSteps(plugin: string, target: string): Step[] {
  return [...(pluginNamed(plugin).device?.release?.(target) ?? []), { op: 'rmdir', target }]
}

/** An unmounted global directory may contain only the kubelet's own record. */
function strayIn({ plugin, path, content }: GlobalMount): Stray | undefined {
  const name = pluginNamed(plugin).device?.record?.name
  const record = name === undefined ? undefined : `${path}/${name}`
  const entry = content.find((each) => each.path !== record || each.type !== 'file' || each.error !== undefined)
  if (entry?.path !== record) return strayOf(present(entry))
  return entry && { entry, why: `is not a record of the kubelet (${entry.error ?? entry.type})` }
}

/**
 * By name: a pod wants exactly this target and LUN, WWN and LUN, WWID or flexVolume; or in doubt: a pod that must not be
 * disturbed has a volume of the plugin that could not be identified. Mounts are judged by device, in `referencesTo`.
 */
function isWanted({ inputs, ledger, classes, uses }: PlanContext, { plugin, name, layers }: GlobalMount): boolean {
  if (plugin === localVolume.name) return uses.of(uniqueVolumeName(plugin, name)).length > 0
  const wanted = ledger.wants.ofPlugin(plugin)
  if (wanted.some((volume) => isDeviceOf(volume, plugin, name))) return true
  return classes.all.filter(isLiving).some(({ uid }) =>
    inputs.tree.children(`pods/${uid}/volumes/${escapeQualifiedName(plugin)}`).some(({ path }) => {
      const specName = baseName(path)
      // A flexVolume's global directory has the same name as the pod's.
      if (specName === name) return true
      if (wanted.some((volume) => volume.podUid === uid && volume.specName === specName)) return false
      // What is mounted shows which device it is, if the global directory does.
      return layers.length === 0 || inputs.at(path).length === 0
    }),
  )
}
