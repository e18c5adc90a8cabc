import { basename } from 'node:path'
import { linkIfAny, namespaceOf } from '../trust/kernel.ts'
import { microk8sKubelet, rancherKubelet } from './embedded-kubelets.ts'
import { type CandidateSource, candidateFrom, type KubeletCandidate } from './kubelet-candidate.ts'
import type { HostProcess } from './scan-processes.ts'

/**
 * The kubelets among processes that look like one (N14). One in another PID namespace (a node that runs in a container
 * of this host) is not this node's.
 */
export function runningKubelets(processes: readonly HostProcess[], proc = '/proc'): readonly KubeletCandidate[] {
  const own = namespaceOf('self', 'pid', proc)
  return processes.flatMap((process) => {
    const namespace = namespaceOf(process.pid, 'pid', proc)
    if (own !== undefined && namespace !== undefined && own !== namespace) return []
    const source = sourceOf(process, linkIfAny(`${proc}/${process.pid}/cwd`) ?? '/')
    return source === undefined ? [] : [candidateFrom(source)]
  })
}

function sourceOf({ pid, comm, args }: HostProcess, workingDirectory: string): CandidateSource | undefined {
  const origin = { source: `process ${pid} (${comm})`, pid }
  const program = basename(args[0] ?? '')
  if (comm === 'kubelet' || program === 'kubelet') return { ...origin, args: args.slice(1), workingDirectory }
  if (program === 'hyperkube' && args.includes('kubelet')) {
    return { ...origin, args: args.slice(args.indexOf('kubelet') + 1), workingDirectory }
  }
  if (comm === 'kubelite') return microk8sKubelet(origin)
  if (/^k3s(-server|-agent)?$/.test(comm) && (comm !== 'k3s' || args.includes('server') || args.includes('agent'))) {
    return rancherKubelet('k3s', origin, args.slice(1))
  }
  return undefined
}
