/** The source of a volume, of the kinds that a pod and a PersistentVolume may both have (P5). */
import type { SharedSources } from '../model/objects.ts'
import type { VolumeSpec } from './volume-spec.ts'

/** The PersistentVolume's, where there is one: also of an inline volume that was translated. */
export function sharedSourcesOf({
  persistentVolume,
  source,
}: Pick<VolumeSpec, 'persistentVolume' | 'source'>): SharedSources {
  return persistentVolume?.spec ?? source ?? {}
}

/**
 * Is the pod only to read it: a PersistentVolume's own flag means nothing here, the claim's does (R114).
 *
 * @param ofInline the flag of an inline source
 */
export function isReadOnlyFor(
  { persistentVolume, readOnly }: Pick<VolumeSpec, 'persistentVolume' | 'readOnly'>,
  ofInline: boolean | undefined,
): boolean {
  return persistentVolume === undefined ? ofInline === true : readOnly
}
