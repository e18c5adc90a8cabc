/**
 * How a person stops and starts the kubelet of this node: the unit that really runs the kubelet, which k3s, RKE2, k0s and
 * MicroK8s name after themselves; where no unit is known, its process.
 */
import { commandLine } from '../../base/command.ts'
import type { KubeletSnapshot } from '../../facts/actual/snapshot.ts'
import { runsApiServer } from '../../plan/kubelet-units.ts'

/** "Stop the kubelet (systemctl stop k3s-agent.service) and plan again.", with a warning if one is needed. */
export function howToStop(kubelet: KubeletSnapshot | undefined): string {
  const { mayReturn = false, running = false } = { ...kubelet }
  const starters = mayReturn && !running ? ', and stop whatever may start it,' : ''
  return `Stop the kubelet${stopCommand(kubelet)}${starters} and plan again.${apiServerToo(kubelet)}`
}

/** " k3s.service also runs this node's API server: …", a whole sentence; nothing where the unit runs none. */
export function apiServerToo({ unit }: Partial<KubeletSnapshot> = {}): string {
  if (unit === undefined || !runsApiServer(unit)) return ''
  return ` ${unit} also runs this node's API server: plan with the --kubeconfig of another one.`
}

/** " (systemctl stop kubelet.service)"; without a known unit its process; nothing where neither is known. */
export function stopCommand({ unit, pid, running }: Partial<KubeletSnapshot> = {}): string {
  if (unit !== undefined) return ` (${commandLine('systemctl', 'stop', unit)})`
  return pid === undefined || running !== true
    ? ''
    : ` (${commandLine('kill', `${pid}`)}; what supervises it may start it again)`
}

/** "start the kubelet (systemctl start kubelet.service)", inside a sentence. */
export function howToStart(kubelet: Partial<KubeletSnapshot> | undefined): string {
  return kubelet?.unit === undefined ? startCommand() : `start the kubelet (${startCommand(kubelet)})`
}

/** "systemctl start kubelet.service", behind a colon. */
export function startCommand({ unit }: Partial<KubeletSnapshot> = {}): string {
  return unit === undefined ? 'start the kubelet' : commandLine('systemctl', 'start', unit)
}
