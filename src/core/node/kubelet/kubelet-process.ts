import { basename } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { omitUndefined } from '../../base/omit-undefined.ts'
import {
  type CandidateSource,
  candidateFrom,
  type KubeletCandidate,
  microk8sKubelet,
  rancherKubelet,
} from './kubelet-candidate.ts'
import { isKubeletByFlags } from './kubelet-flags.ts'
import { type HostProcess, hostsKubelets, letGo, scanKubelets } from './scan-processes.ts'

/** The kubelets of one moment, pinned as long as it is kept. */
export interface KubeletsSeen extends Disposable {
  readonly kubelets: readonly KubeletCandidate[]
}

/** A node on which pods start and stop shows a child of its kubelet in one look of a thousand. */
const LOOKS = 3

/**
 * The kubelets that run, by their own processes (S32). If there are several, one may have been a child of another that was
 * just becoming a different program, with the kubelet's name and already that program's arguments: volctl looks again, and a
 * kubelet is there then, too.
 *
 * @param processes of the first look; they are let go with the rest
 * @param again takes another look
 */
export async function kubeletsSeen(
  processes: readonly HostProcess[] = scanKubelets(),
  again: () => readonly HostProcess[] = scanKubelets,
): Promise<KubeletsSeen> {
  const pinned = [...processes]
  const seen = async (found: readonly HostProcess[]) => runningKubelets(await hostsKubelets(found))
  try {
    let kubelets = await seen(processes)
    for (let looks = 1; kubelets.length > 1 && looks < LOOKS; looks++) {
      const now = again()
      pinned.push(...now)
      kubelets = await seen(now)
    }
    return { kubelets, [Symbol.dispose]: () => letGo(pinned) }
  } catch (error) {
    letGo(pinned)
    throw error
  }
}

/** The kubelets among root's processes that look like one (N14), by name or by flags. */
export function runningKubelets(processes: readonly HostProcess[]): readonly KubeletCandidate[] {
  const found = processes.flatMap((process) => {
    const source = sourceOf(process)
    return source === undefined ? [] : [{ process, candidate: candidateFrom(source) }]
  })
  return found.filter((each) => !isWrapper(each, found) && !isForked(each, found)).map(({ candidate }) => candidate)
}

interface Found {
  readonly process: HostProcess
  readonly candidate: KubeletCandidate
}

/**
 * A program that starts a kubelet and waits (a supervisor, a shell, `docker run`) has the kubelet's flags on its own command
 * line. It is not a second kubelet if there is a process of the same root directory and node name that is called kubelet, or
 * that is its child.
 */
function isWrapper({ process, candidate }: Found, all: readonly Found[]): boolean {
  if (process.byFlags !== true) return false
  const alike = all.filter(
    (other) =>
      other.process !== process &&
      other.candidate.rootDir === candidate.rootDir &&
      other.candidate.nodeName === candidate.nodeName,
  )
  return alike.some((other) => other.process.byFlags !== true || other.process.parent === process.pid)
}

/**
 * A child of the kubelet has the kubelet's name and arguments until it begins its own program. In another mount namespace it
 * is a kubelet that was started by a program of its name: whose mounts count is then not known (S6).
 */
function isForked({ process }: Found, all: readonly Found[]): boolean {
  return all.some(
    (other) =>
      other.process.pid === process.parent &&
      isDeepStrictEqual(other.process.args, process.args) &&
      other.process.process?.link('ns/mnt') === process.process?.link('ns/mnt'),
  )
}

function sourceOf(found: HostProcess): CandidateSource | undefined {
  const { pid, comm, args, workingDirectory, process, byFlags, unit } = found
  const origin = {
    ...{ source: `process ${pid} (${comm})`, pid },
    ...omitUndefined({ process, unit }),
  }
  const program = basename(args[0] ?? '')
  if (comm === 'kubelet' || program === 'kubelet') return { ...origin, args: args.slice(1), workingDirectory }
  if (program === 'hyperkube' && args.includes('kubelet')) {
    return { ...origin, args: args.slice(args.indexOf('kubelet') + 1), workingDirectory }
  }
  if (comm === 'kubelite') return microk8sKubelet(origin)
  if (/^k3s(-server|-agent)?$/.test(comm) && (comm !== 'k3s' || args.includes('server') || args.includes('agent'))) {
    return rancherKubelet('k3s', origin, args.slice(1))
  }
  // A copy (`kubelet-1.36`), or a program of another name.
  if (byFlags === true || (comm.startsWith('kubelet') && isKubeletByFlags(args, workingDirectory))) {
    return { ...origin, args: args.slice(1), workingDirectory }
  }
  return undefined
}
