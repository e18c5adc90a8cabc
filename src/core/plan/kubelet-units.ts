import { PIPE, type Word } from '../base/command.ts'
import type { PlanInputs } from './plan.ts'

/** Units that run an API server in the same process or under it: once they are stopped, the API server no longer answers volctl. */
const WITH_API_SERVER: ReadonlySet<string> = new Set([
  'k3s.service',
  'rke2-server.service',
  'k0scontroller.service',
  'snap.microk8s.daemon-kubelite.service',
])

export function runsApiServer(unit: string): boolean {
  return WITH_API_SERVER.has(unit)
}

/** What the kubelet is doing, and why it is said to. @param isWhole the same of one that is stopped */
export function kubeletText({ state, note, unit }: PlanInputs['kubelet'], isWhole: boolean): string {
  const more = state === 'stopped' && !isWhole ? undefined : (note ?? unit)
  return `${state === 'mayReturn' ? 'down, but may come back' : state}${more === undefined ? '' : ` (${more})`}`
}

/** The command that stops a pod's sandbox and with it the containers, without a kubelet. */
export function stopPod(uid: string): readonly Word[] {
  return ['crictl', 'pods', '--label', `io.kubernetes.pod.uid=${uid}`, '-q', PIPE, 'xargs', '-r', 'crictl', 'stopp']
}
