/** The pods of this node that run a CSI driver: those that have the directory of its socket from the host. */

import { parentOf } from '../actual/tree.ts'
import { isWithin, plainPath } from '../files/path-within.ts'
import { defined } from '../lang/defined.ts'
import type { Pod } from '../model/objects.ts'
import type { CsiSocket } from '../model/snapshot.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import type { DriverPod } from './explanation.ts'
import { rootPathOf } from './root-path.ts'

/** @param sockets of the driver; without one its directory is where it is by convention */
export function driverPods(context: PlanContext, driver: string, sockets: readonly CsiSocket[]): DriverPod[] {
  const { inputs, classes } = context
  const own = new Set([
    inputs.absolute(`plugins/${driver}`),
    ...sockets.flatMap(({ path, endpoint }) => {
      const at = endpoint ?? path
      return at.startsWith('plugins_registry/') ? [] : [parentOf(at.startsWith('/') ? at : inputs.absolute(at))]
    }),
  ])
  const found = classes.all.flatMap(({ uid, pod, ref }) => {
    const directory = pod && directoryOf(context, pod, own)
    if (pod === undefined || directory === undefined) return []
    const phase = pod.status?.phase
    return [{ pod: ref, ...defined({ phase }), containers: containersOf(context, uid), directory }]
  })
  // One that has just this directory says more than one that has those of all drivers.
  const exact = found.filter(({ directory }) => own.has(directory))
  return exact.length > 0 ? exact : found
}

/** The host's directory that the pod has: the socket's own, or one above it in the kubelet's. */
function directoryOf({ inputs }: PlanContext, { spec }: Pod, own: ReadonlySet<string>): string | undefined {
  const paths = (spec.volumes ?? []).flatMap(({ hostPath }) =>
    hostPath?.path === undefined ? [] : [rootPathOf(inputs, plainPath(hostPath.path))],
  )
  const plugins = inputs.absolute('plugins')
  return (
    paths.find((path) => own.has(path)) ??
    paths.find((path) => isWithin(path, plugins) && [...own].some((directory) => isWithin(directory, path)))
  )
}

function containersOf({ inputs }: PlanContext, uid: string): DriverPod['containers'] {
  const sandboxes = (inputs.snapshot.runtime?.pods ?? []).filter((sandbox) => sandbox.uid === uid)
  return sandboxes.flatMap(({ containers }) =>
    containers.map(({ name, state }) => ({ name, state: state.replace(/^CONTAINER_/, '').toLowerCase() })),
  )
}
