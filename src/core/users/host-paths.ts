import type { PersistentVolume, Pod } from '../kube/api/objects.ts'
import { plainPath } from '../linux/paths.ts'
import { podLabel } from '../volumes/pods.ts'

/** A path by which somebody else may use what is there. */
export interface NamedPath {
  /** Absolute. */
  readonly path: string
  /** What it is, for messages. */
  readonly text: string
}

/**
 * Directories and files of the node that pods have as volumes, also pods that do not run yet.
 *
 * @param volumes PersistentVolumes that name such a directory count, whoever claims them
 */
export function hostPathsOf(pods: readonly Pod[], volumes: readonly PersistentVolume[] = []): NamedPath[] {
  return [
    ...pods.flatMap((pod) =>
      (pod.spec.volumes ?? []).flatMap(({ hostPath }) =>
        namedPath(hostPath?.path, (path) => `the hostPath ${path} of pod ${podLabel(pod)}`),
      ),
    ),
    ...volumes.flatMap(({ metadata, spec: { hostPath, local } }) =>
      namedPath(
        hostPath?.path ?? local?.path,
        (path) =>
          `${hostPath == null ? 'the local volume' : 'the hostPath'} ${path} of PersistentVolume ${metadata.name}`,
      ),
    ),
  ]
}

function namedPath(path: string | undefined, textOf: (path: string) => string): NamedPath[] {
  return path?.startsWith('/') === true ? [{ path: plainPath(path), text: textOf(path) }] : []
}
