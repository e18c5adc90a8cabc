import { claimReferenceOf } from '../desired/resolve-claim.ts'
import { compareText } from '../lang/compare-text.ts'
import type { Pod } from '../model/objects.ts'
import { keyText, type ObjectKey } from '../model/resources.ts'

/** The objects that pods' volumes name; each once, sorted. */
export interface ReferencedObjects {
  readonly claims: readonly ObjectKey[]
  readonly configMaps: readonly ObjectKey[]
  readonly secrets: readonly ObjectKey[]
  /** Names of CSI drivers of inline volumes. */
  readonly csiDrivers: readonly string[]
}

const GENERATED_FIRST = { ephemeralFirst: true }

/** What must be read besides the pods: claims (generated ones too, N56), config maps and secrets, also projected ones. */
export function referencedObjects(pods: readonly Pod[]): ReferencedObjects {
  const claims = new KeySet()
  const configMaps = new KeySet()
  const secrets = new KeySet()
  const csiDrivers = new Set<string>()
  for (const pod of pods) {
    const namespace = pod.metadata.namespace ?? ''
    for (const volume of pod.spec.volumes ?? []) {
      claims.add(namespace, claimReferenceOf(pod, volume, GENERATED_FIRST)?.name)
      configMaps.add(namespace, volume.configMap?.name)
      secrets.add(namespace, volume.secret?.secretName)
      if (volume.csi) csiDrivers.add(volume.csi.driver)
      for (const source of volume.projected?.sources ?? []) {
        configMaps.add(namespace, source.configMap?.name)
        secrets.add(namespace, source.secret?.name)
      }
    }
  }
  return {
    claims: claims.sorted(),
    configMaps: configMaps.sorted(),
    secrets: secrets.sorted(),
    csiDrivers: [...csiDrivers].sort(),
  }
}

class KeySet {
  readonly #keys = new Map<string, ObjectKey>()

  add(namespace: string, name: string | undefined): void {
    if (name !== undefined && name !== '') this.#keys.set(keyText({ namespace, name }), { namespace, name })
  }

  sorted(): ObjectKey[] {
    return [...this.#keys].sort(([a], [b]) => compareText(a, b)).map(([, key]) => key)
  }
}
