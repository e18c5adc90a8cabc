/** Builds the requests of NodeStageVolume, NodePublishVolume and NodeExpandVolume, every field as the rules say. */

import type { CsiDriver } from '../../kube/api/objects.ts'
import type { NodeExpandVolume, NodePublishVolume, NodeStageVolume } from '../../rpc/csi-node-client.ts'
import { csiSpecOf, isEphemeral, isReadOnly } from '../../volumes/csi-volume.ts'
import { csiPlaces, type VolumeToMount } from '../../volumes/desired-state.ts'
import { podNamespace } from '../../volumes/pods.ts'
import { labelOption } from '../../volumes/selinux-label.ts'

type Texts = Readonly<Record<string, string>>

/** What the requests of one operation are built from. */
export interface CsiFacts {
  readonly volume: VolumeToMount
  readonly rootDir: string
  /** Names of the node service's capabilities. */
  readonly capabilities: readonly string[]
  /** Undefined: there is no CSIDriver (C105). */
  readonly driver: CsiDriver | undefined
  /** VolumeAttachment.status.attachmentMetadata; empty if nothing is attached (C39). */
  readonly publishContext: Texts
  /** SELinux label that the volume is mounted with; empty: none (C68). */
  readonly label: string
}

/** What all requests have. */
function common(facts: CsiFacts, secrets: Texts, group = mountGroup(facts)) {
  return {
    volumeId: facts.volume.handle ?? '',
    stagingTargetPath: stagingPath(facts),
    volumeCapability: capability(facts, group),
    secrets: { ...secrets },
  }
}

/** C52: without pod information and tokens, since pods share a staged volume. */
export function stageRequest(facts: CsiFacts, secrets: Texts): NodeStageVolume {
  const { publishContext, volume } = facts
  return {
    ...common(facts, secrets),
    publishContext: { ...publishContext },
    volumeContext: { ...csiSpecOf(volume).volumeAttributes },
  }
}

/**
 * C55.
 *
 * @param tokens the service account's tokens as one JSON text (C60); undefined: the driver asks for none
 */
export function publishRequest(facts: CsiFacts, secrets: Texts, tokens: string | undefined): NodePublishVolume {
  const { volume, driver, rootDir } = facts
  const given: Texts = tokens === undefined || volume.mode === 'Block' ? {} : { [TOKENS]: tokens }
  const inSecrets = driver?.spec.serviceAccountTokenInSecrets === true
  return {
    ...common(facts, { ...secrets, ...(inSecrets ? given : {}) }),
    publishContext: { ...facts.publishContext },
    stagingTargetPath: publishesStaged(facts) ? stagingPath(facts) : '',
    targetPath: `${rootDir}/${csiPlaces(volume).target}`,
    readonly: isReadOnly(volume),
    volumeContext: { ...csiSpecOf(volume).volumeAttributes, ...podInformation(facts), ...(inSecrets ? {} : given) },
  }
}

/**
 * C100.
 *
 * @param volumePath absolute; for a block volume, the device
 */
export function expandRequest(
  facts: CsiFacts,
  { volumePath, requiredBytes, secrets }: { volumePath: string; requiredBytes: bigint; secrets: Texts },
): NodeExpandVolume {
  return { ...common(facts, secrets, ''), volumePath, capacityRange: { requiredBytes } }
}

const TOKENS = 'csi.storage.k8s.io/serviceAccount.tokens'

function stagingPath({ volume, rootDir }: CsiFacts): string {
  const path = csiPlaces(volume).stagingPath
  return path === undefined ? '' : `${rootDir}/${path}`
}

/** For a block volume the staging path is always sent (C55). */
function publishesStaged({ volume, capabilities }: CsiFacts): boolean {
  if (volume.mode === 'Block') return true
  return !isEphemeral(volume) && capabilities.includes('STAGE_UNSTAGE_VOLUME')
}

/** C62: regardless of the CSIDriver's policy. */
function mountGroup({ volume, capabilities }: CsiFacts): string {
  const { fsGroup } = volume.pod.spec.securityContext ?? {}
  return fsGroup === undefined || !capabilities.includes('VOLUME_MOUNT_GROUP') ? '' : String(fsGroup)
}

/** An fsType of `block` asks for a block volume, whatever the volume's mode (C52). */
function capability(facts: CsiFacts, volumeMountGroup: string): NonNullable<NodeStageVolume['volumeCapability']> {
  const { volume } = facts
  const accessMode = { mode: accessModeOf(facts) }
  const { fsType = '' } = csiSpecOf(volume)
  if (volume.mode === 'Block' || fsType === 'block') return { accessMode, accessType: { case: 'block', value: {} } }
  const mountFlags = [...(volume.persistentVolume?.spec.mountOptions ?? []), ...labelOption(facts.label)]
  return { accessMode, accessType: { case: 'mount', value: { fsType, mountFlags, volumeMountGroup } } }
}

/** Numbers of VolumeCapability.AccessMode.Mode (C56, C113). */
const ACCESS_MODES: Readonly<Record<string, { readonly plain: number; readonly multiWriter: number }>> = {
  ReadWriteOnce: { plain: 1, multiWriter: 7 },
  ReadOnlyMany: { plain: 3, multiWriter: 3 },
  ReadWriteMany: { plain: 5, multiWriter: 5 },
  ReadWriteOncePod: { plain: 1, multiWriter: 6 },
}

/** Only the first mode of the list counts (C56). */
function accessModeOf({ volume, capabilities }: CsiFacts): number {
  const [mode = 'ReadWriteOnce'] = volume.persistentVolume?.spec.accessModes ?? []
  const modes = ACCESS_MODES[mode]
  return (capabilities.includes('SINGLE_NODE_MULTI_WRITER') ? modes?.multiWriter : modes?.plain) ?? 0
}

/** C59: pod information overwrites attributes of the same name. */
function podInformation({ volume, driver }: CsiFacts): Texts {
  if (driver?.spec.podInfoOnMount !== true) return {}
  const { pod, podUid } = volume
  return {
    'csi.storage.k8s.io/pod.name': pod.metadata.name,
    'csi.storage.k8s.io/pod.namespace': podNamespace(pod),
    'csi.storage.k8s.io/pod.uid': podUid,
    'csi.storage.k8s.io/serviceAccount.name': pod.spec.serviceAccountName ?? '',
    'csi.storage.k8s.io/ephemeral': String(isEphemeral(volume)),
  }
}
