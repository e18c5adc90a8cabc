/**
 * What volctl takes for this host, where it is not to look itself. A volctl that people install looks itself: its entry gives
 * none (test/safety/places.test.ts), so neither a variable nor a file changes what it looks at (S34). The tests do, for a node
 * that they make (test/helpers/test-host.ts).
 */
import { type Run, thisRun } from '../trust/run.ts'
import type { NodeSnapshot } from '../volumes/snapshot.ts'

/** As they stand in the snapshot; `processes` are added to what /proc shows. */
type OfSnapshot =
  | 'machineID'
  | 'systemUUID'
  | 'bootID'
  | 'bootTime'
  | 'kernelVersion'
  | 'nodeName'
  | 'rootDir'
  | 'kubelet'
  | 'processes'
  | 'selinux'

/** What is absent is read from the host. */
export interface Places extends Partial<Pick<NodeSnapshot, OfSnapshot>> {
  readonly staticPodPath?: string
  readonly runtimeEndpoints?: readonly string[]
  readonly runtimeExpected?: boolean
  readonly lockFile?: string
  readonly journalDir?: string
  readonly kubeconfig?: string
  /** Drivers of flexVolumes; absent: there is no such directory. */
  readonly volumePluginDir?: string
}

const given = new WeakMap<Run, () => Places | undefined>()

/** Those of this moment: a kubelet may come back. Undefined: volctl looks itself. */
export function places(): Places | undefined {
  return given.get(thisRun())?.()
}

/** What this run is to look at. */
export function givePlaces(from: () => Places | undefined): void {
  given.set(thisRun(), from)
}
