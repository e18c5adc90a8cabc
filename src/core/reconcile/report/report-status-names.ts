/**
 * Volumes that node.status lists although this node has no pod, directory, mount or attachment of them. The controller keeps
 * such a volume attached here, or considers it mounted, and no operation on the node can change that (R330, R725, R731).
 */

import { attachmentName, parseCsiUniqueName } from '../../facts/actual/volume-names.ts'
import { apiLookup } from '../../volumes/api-lookup.ts'
import { mayBeNamed } from '../../volumes/desired-state.ts'
import { volumesInStatus } from '../../volumes/node-affinity.ts'
import { controllerWantedVolumes } from '../../volumes/populate.ts'
import { pluginNamed } from '../../volumes/registry.ts'
import { howToStart, type PlanContext } from '../context/context.ts'
import { migratesAll } from '../pods/kubelet-mode.ts'
import { podListIsComplete } from '../pods/pod-classes.ts'
import { attachableName } from './report-attachments.ts'

export function reportStatusNames(context: PlanContext): void {
  const { api, nodeName, tree } = context.inputs.snapshot
  const names = new Set(volumesInStatus(api?.node))
  // S3: something that was not seen may explain them.
  if (api === undefined || tree === undefined || names.size === 0 || !podListIsComplete(context.inputs)) return
  const wanted = controllerWantedVolumes(api.pods, api, nodeName)
  const unresolved = [...wanted.unresolved, ...context.desired.unresolved]
  const explained = new Set([
    ...wanted.names.keys(),
    ...unresolved.flatMap(({ mayBe }) => (mayBe.of === 'itself' ? [mayBe.volume.uniqueName] : [])),
    ...context.desired.volumes.flatMap((volume) => [volume.uniqueName, attachableName(context, volume) ?? '']),
  ])
  const unidentified = unidentifiedPlugins(context)
  for (const name of names) {
    if (explained.has(name) || unresolved.some(({ mayBe }) => mayBeNamed(mayBe, name))) continue
    const csi = parseCsiUniqueName(name)
    if (csi === undefined ? isOfPlugin(name, unidentified) : isExplained(context, name, csi)) continue
    reportName(context, name)
  }
}

/** True if there is anything of this CSI volume on disk, in the mount table or among the attachments. */
function isExplained(
  context: PlanContext,
  name: string,
  { driver, handle }: { readonly driver: string; readonly handle: string },
): boolean {
  const { api, nodeName } = context.inputs.snapshot
  const attachment = api && apiLookup(api).volumeAttachment(attachmentName(handle, driver, nodeName))
  if (attachment?.state !== 'Absent' || context.uses.of(name).length > 0) return true
  const volumes = context.objects.persistentVolumesOf({ driver, handle }).map(({ metadata }) => metadata.name)
  const names = volumes.length === 0 ? [undefined] : volumes
  return names.some((volume) => context.uses.traces({ driver, handle }, volume).length > 0)
}

/** Plugins with something on this node that no wanted volume explains: that may be the listed volume. */
function unidentifiedPlugins({ desired, inputs, blocks, classes, ledger }: PlanContext): readonly string[] {
  const known = new Set(desired.volumes.map((volume) => pluginNamed(volume.plugin).globalPath(volume)))
  const globals = ledger.globals.filter(({ path }) => !known.has(path))
  const uids = new Set(desired.volumes.map(({ podUid, plugin, specName }) => `${podUid} ${plugin} ${specName}`))
  const maps = blocks.filter(
    ({ plugin, name, mappings }) =>
      mappings.length === 0 || mappings.some(({ podUid }) => !uids.has(`${podUid} ${plugin} ${name}`)),
  )
  const ended = classes.all.filter((pod) => pod.class !== 'Desired').map(({ uid }) => uid)
  const left = ended.flatMap((uid) =>
    inputs.tree
      .childDirs(`pods/${uid}/volumes`)
      .filter((plugin) => inputs.tree.childDirs(`pods/${uid}/volumes/${plugin}`).length > 0)
      .map((plugin) => plugin.replaceAll('~', '/')),
  )
  return [...new Set([...globals.map(({ plugin }) => plugin), ...maps.map(({ plugin }) => plugin), ...left])]
}

function isOfPlugin(name: string, plugins: readonly string[]): boolean {
  return plugins.some((plugin) => name.startsWith(`${plugin}/`))
}

function reportName({ inputs, objects, kubelet, findings }: PlanContext, name: string): void {
  const { nodeName } = inputs.snapshot
  // The names of a plugin that this kubelet does not migrate are the plugin's own.
  const csi = parseCsiUniqueName(name)
  if (!migratesAll(inputs.snapshot) && csi === undefined) return
  const [known, ...others] = objects.persistentVolumesOf(csi)
  const volume = known === undefined || others.length > 0 ? name : known.metadata.name
  const lists = [
    ...(objects.isAttached(name) ? ['volumesAttached'] : []),
    ...(objects.isInUse(name) ? ['volumesInUse'] : []),
  ]
  findings.problem(
    'warning',
    'ReportedUnused',
    `${volume} is still listed in node.status.${lists.join(' and ')} of ${nodeName}, but no pod wants it, and it has no VolumeAttachment, mount or directory here`,
    { volume, subject: { row: name } },
    objects.isInUse(name)
      ? kubelet.state === 'running'
        ? 'Restart the kubelet, which then builds the list again, or search its log for the name. Until then the attach/detach controller gives what the list names to no other node.'
        : `To update the list, ${howToStart(inputs.snapshot.kubelet)}; the attach/detach controller then releases for other nodes what the list no longer names.`
      : 'The attach/detach controller corrects the list. If it does not, search the log of kube-controller-manager for the name.',
  )
}
