import { basename } from 'node:path'
import { microk8sKubelet, rancherKubelet } from './embedded-kubelets.ts'
import { type CandidateSource, candidateFrom, type KubeletCandidate } from './kubelet-candidate.ts'
import type { HostProcess } from './scan-processes.ts'

/** The kubelets among processes of root's that look like one (N14). */
export function runningKubelets(processes: readonly HostProcess[]): readonly KubeletCandidate[] {
  return processes.flatMap((process) => {
    const source = sourceOf(process)
    return source === undefined ? [] : [candidateFrom(source)]
  })
}

function sourceOf({ pid, comm, args, workingDirectory, process }: HostProcess): CandidateSource | undefined {
  const origin = { source: `process ${pid} (${comm})`, pid, ...(process !== undefined && { process }) }
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
