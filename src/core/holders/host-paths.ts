import { podLabel } from '../desired/pods.ts'
import { plainPath } from '../files/path-within.ts'
import type { Pod } from '../model/objects.ts'

/** A path by which somebody else may use what is there. */
export interface NamedPath {
  /** Absolute. */
  readonly path: string
  /** What it is, for messages. */
  readonly text: string
}

/** Directories and files of the node that pods have as volumes, by their specs: also those of which nothing runs yet. */
export function hostPathsOf(pods: readonly Pod[]): NamedPath[] {
  return pods.flatMap((pod) =>
    (pod.spec.volumes ?? []).flatMap(({ hostPath }) =>
      hostPath?.path?.startsWith('/') === true
        ? [{ path: plainPath(hostPath.path), text: `the hostPath ${hostPath.path} of pod ${podLabel(pod)}` }]
        : [],
    ),
  )
}
