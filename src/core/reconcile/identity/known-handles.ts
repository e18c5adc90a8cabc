/** Handles from state files, PersistentVolumes and the node's status, by the staging directory of each (C10, C95). */
import { csiSourceOf } from '../../desired/csi-translation/csi-source.ts'
import { volumesInStatus } from '../../desired/node-status.ts'
import { onceFor } from '../../lang/once-for.ts'
import { csiGlobalDir, parseCsiUniqueName } from '../../names/volume-names.ts'
import type { PlanContext } from '../context/context.ts'
import type { CsiIdentity } from './identified.ts'

/** The volume whose driver and handle give this directory its name. Every handle is hashed once per plan. */
export function knownHandleOf(context: PlanContext, stagingDir: string): CsiIdentity | undefined {
  return byDirectory(context).get(stagingDir)
}

const byDirectory = onceFor((context: PlanContext): ReadonlyMap<string, CsiIdentity> => {
  const known = new Map<string, CsiIdentity>()
  for (const identity of [...onDisk(context), ...ofPersistentVolumes(context), ...ofNodeStatus(context)]) {
    const dir = csiGlobalDir(identity.driver, identity.handle)
    if (!known.has(dir)) known.set(dir, identity)
  }
  return known
})

function onDisk({ onDisk }: PlanContext): CsiIdentity[] {
  return onDisk.all.map(({ volume }) => volume)
}

function ofPersistentVolumes({ inputs }: PlanContext): CsiIdentity[] {
  return (inputs.snapshot.api?.persistentVolumes ?? []).flatMap((volume) => {
    const csi = csiSourceOf(volume)
    return csi === undefined
      ? []
      : [{ driver: csi.driver, handle: csi.volumeHandle, from: `PersistentVolume ${volume.metadata.name}` }]
  })
}

/** The last trace of a volume whose PersistentVolume and state file are both gone (N64). */
function ofNodeStatus({ inputs }: PlanContext): CsiIdentity[] {
  return volumesInStatus(inputs.snapshot.api?.node).flatMap((name) => {
    const volume = parseCsiUniqueName(name)
    return volume === undefined ? [] : [{ ...volume, from: "the node's status" }]
  })
}
