/** The sources that both a pod and a PersistentVolume can have (P5). */
import type { SharedSources } from '../model/objects.ts'
import type { VolumeSpec } from './volume-spec.ts'

/** The PersistentVolume's source, if there is one; a translated inline volume has one, too. */
export function sharedSourcesOf({
  persistentVolume,
  source,
}: Pick<VolumeSpec, 'persistentVolume' | 'source'>): SharedSources {
  return persistentVolume?.spec ?? source ?? {}
}

/**
 * May the pod only read the volume? The claim's flag decides; a PersistentVolume's own flag is ignored (R114).
 *
 * @param ofInline the flag of an inline source
 */
export function isReadOnlyFor(
  { persistentVolume, readOnly }: Pick<VolumeSpec, 'persistentVolume' | 'readOnly'>,
  ofInline: boolean | undefined,
): boolean {
  return persistentVolume === undefined ? ofInline === true : readOnly
}
