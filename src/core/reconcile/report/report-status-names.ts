/**
 * Names in node.status that nothing on this node bears: no pod, no directory, no mount, no attachment. The controller keeps the
 * volume here for them, or takes it for mounted, and no operation of a node can change that (R330, R725, R731).
 */

import { apiLookup } from '../../desired/api-lookup.ts'
import { mayBeNamed } from '../../desired/may-be.ts'
import { volumesInStatus } from '../../desired/node-status.ts'
import { globalMounts } from '../../devices/global-mounts.ts'
import { attachmentName, parseCsiUniqueName } from '../../names/volume-names.ts'
import type { Findings } from '../../plan/draft.ts'
import { pluginNamed } from '../../plugins/registry.ts'
import { controllerWantedVolumes } from '../../populator/controller-wanted.ts'
import type { PlanContext } from '../context/context.ts'
import { migratesAll } from '../obstacles/migration.ts'
import { attachableName } from '../obstacles/present-volumes.ts'
import { VolumeTraces } from '../obstacles/volume-traces.ts'
import { podListIsComplete } from '../pods/pod-classes.ts'

export function reportStatusNames(context: PlanContext, findings: Findings): void {
  const { api, nodeName, tree } = context.inputs.snapshot
  const names = new Set(volumesInStatus(api?.node))
  // S3: what was not seen may bear them.
  if (api === undefined || tree === undefined || names.size === 0 || !podListIsComplete(context.inputs)) return
  const wanted = controllerWantedVolumes(api.pods, api, nodeName)
  const unresolved = [...wanted.unresolved, ...context.desired.unresolved]
  const borne = new Set([
    ...wanted.names.keys(),
    ...unresolved.flatMap(({ mayBe }) => (mayBe.of === 'itself' ? [mayBe.volume.uniqueName] : [])),
    ...context.desired.volumes.flatMap((volume) => [volume.uniqueName, attachableName(context, volume) ?? '']),
  ])
  const traces = new VolumeTraces(context)
  const untold = untoldPlugins(context)
  for (const name of names) {
    if (borne.has(name) || unresolved.some(({ mayBe }) => mayBeNamed(mayBe, name))) continue
    const csi = parseCsiUniqueName(name)
    if (csi === undefined ? isUntold(name, untold) : isBorne(context, name, csi, traces)) continue
    reportName(context, findings, name)
  }
}

/** Of CSI: by anything on disk, in the mount table or among the attachments. */
function isBorne(
  context: PlanContext,
  name: string,
  { driver, handle }: { readonly driver: string; readonly handle: string },
  traces: VolumeTraces,
): boolean {
  const { api, nodeName } = context.inputs.snapshot
  const attachment = api && apiLookup(api).volumeAttachment(attachmentName(handle, driver, nodeName))
  if (attachment?.state !== 'Absent' || context.users.of(name).length > 0) return true
  const volumes = context.objects.persistentVolumesOf({ driver, handle }).map(({ metadata }) => metadata.name)
  const names = volumes.length === 0 ? [undefined] : volumes
  return names.some((volume) => traces.of({ driver, handle, from: "the node's status" }, volume).length > 0)
}

/** Plugins of which something is here that no wanted volume explains: it may be what the name means. */
function untoldPlugins({ desired, inputs, blocks, classes }: PlanContext): readonly string[] {
  const known = new Set(desired.volumes.map((volume) => pluginNamed(volume.plugin).globalPath(volume)))
  const globals = globalMounts(inputs).filter(({ path }) => !known.has(path))
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

function isUntold(name: string, plugins: readonly string[]): boolean {
  return plugins.some((plugin) => name.startsWith(`${plugin}/`))
}

function reportName({ inputs, objects, kubelet }: PlanContext, findings: Findings, name: string): void {
  const { nodeName } = inputs.snapshot
  // Of a plugin that this kubelet does not migrate names are the plugin's own.
  if (!migratesAll(inputs.snapshot) && parseCsiUniqueName(name) === undefined) return
  const lists = [
    ...(objects.isAttached(name) ? ['volumesAttached'] : []),
    ...(objects.isInUse(name) ? ['volumesInUse'] : []),
  ]
  findings.problem(
    'warning',
    'NameWithoutVolume',
    `node.status.${lists.join(' and ')} of ${nodeName} names ${name}, which nothing here bears: no pod wants it, no attachment is of it, and nothing of it is on disk or mounted`,
    { volume: name },
    objects.isInUse(name)
      ? kubelet.state === 'running'
        ? 'This kubelet reports it in use at each status: look in its log for the name; a restart of the kubelet makes it look anew. Until then the controller attaches the volume to no other node.'
        : 'Start the kubelet: it reports anew what is in use, and the controller then frees the volume for other nodes.'
      : 'The attach/detach controller takes it out: look in the log of kube-controller-manager for the name.',
  )
}
