/** Facts about one pod that several phases state. */
import type { PlanContext } from './context.ts'
import type { PodClass } from './pod-classes.ts'

/** Times of what the kubelet made for this pod; content of volumes aside (S11). */
export function podTimes({ inputs }: PlanContext, pod: PodClass): (number | undefined)[] {
  const base = `pods/${pod.uid}`
  const own = [
    base,
    `${base}/volumes`,
    `${base}/volume-subpaths`,
    `${base}/volumeDevices`,
    `${base}/plugins`,
    `${base}/containers`,
  ]
  const below = [`${base}/volumes`, `${base}/volumeDevices`, `${base}/volume-subpaths`].flatMap((dir) =>
    inputs.tree.children(dir).flatMap((plugin) => [plugin, ...inputs.tree.children(plugin.path)]),
  )
  const states = below.map((entry) => inputs.tree.get(`${entry.path}/vol_data.json`))
  const entries = [...own.map((path) => inputs.tree.get(path)), ...below, ...states]
  return entries
    .filter((entry) => entry !== undefined && !isMountPoint(inputs, entry.path))
    .map((entry) => entry?.mtime)
}

function isMountPoint(inputs: PlanContext['inputs'], path: string): boolean {
  return inputs.at(path).length > 0
}

export function gone(pod: PodClass): string {
  const name = pod.ref.name === undefined ? pod.uid : `${pod.ref.namespace ?? 'default'}/${pod.ref.name} (${pod.uid})`
  return pod.class === 'Finished'
    ? `pod ${name} has ended and nothing of it runs`
    : `pod ${name} is not in the API and nothing of it runs`
}
