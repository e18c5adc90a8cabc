/** Processes that bear a container runtime's name, as every pod with a runtime of its own has them, beside a stopped kubelet. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { runScenario, sh } from '../../helpers/scenario.ts'
import { readMounts } from '../workers/real-node.ts'
import { makeVolume, type TrustNode, withNode } from './node.ts'
import { end, type ProcessOptions, STRANGER } from './strangers.ts'
import { codeOf } from './watched-run.ts'

export interface Done {
  readonly plan: number | undefined
  readonly status: number | undefined
  readonly code: string | undefined
  readonly mounted: boolean
}

const AS_STRANGER = ['setpriv', `--reuid=${STRANGER}`, `--regid=${STRANGER}`, '--clear-groups']
const OWN_MOUNTS = ['unshare', '-m', '--propagation', 'slave']
const OWN_PIDS = ['-p', '-f', '--kill-child']

async function apply(node: TrustNode, script?: string): Promise<Done> {
  const volume = makeVolume(node.root, 1)
  const flags = ['-o', 'json', '--kubeconfig', node.api.kubeconfig('admin')]
  const options = script === undefined ? {} : { script }
  const plan = await node.volctl(['plan', ...flags], options)
  const run = await node.volctl(['apply', '--yes', ...flags], options)
  const mounted = readMounts().at(volume).length > 0
  if (mounted) sh('umount', volume)
  return { plan: plan.status, status: run.status, code: codeOf(run), mounted }
}

/** A PID namespace in which only this process is beside volctl, in the same mount namespace as its first process. */
function inPidNamespace(directory: string, name: string, as: readonly string[]): string {
  const [ready, held] = [`${directory}/${name}-ready`, `${directory}/${name}-held`]
  sh('mkfifo', '-m', '666', ready, held)
  const inside = `${directory}/${name}.sh`
  const beside = `${as.join(' ')} ${directory}/bin/containerd -p -c 'echo ready > ${ready}; read -r line < ${held}'`
  writeFileSync(inside, `${beside} &\nread -r line < ${ready}\n"$@"\ns=$?\nkill $!\nexit $s\n`)
  return `exec unshare -m --propagation slave -p -f --mount-proc --kill-child sh ${inside} "$@"`
}

await runScenario({
  beside: (directory) =>
    withNode(directory, {}, async (node) => {
      const there = `${node.root}/pods/extra`
      mkdirSync(there, { recursive: true })
      // What only they see, under the root directory.
      const runtime = { name: 'containerd', inside: `mount -t tmpfs tmpfs ${there}` }
      const kinds: Readonly<Record<string, ProcessOptions>> = {
        'of another user, in a mount namespace': { ...runtime, through: [...OWN_MOUNTS, ...AS_STRANGER] },
        'of another user, in mount and PID namespaces': {
          ...runtime,
          through: [...OWN_MOUNTS, ...OWN_PIDS, ...AS_STRANGER],
        },
        "of root's, in a PID namespace, as docker in docker": { ...runtime, through: [...OWN_MOUNTS, ...OWN_PIDS] },
        'of another user, in a user namespace, as docker without root': {
          ...runtime,
          uid: STRANGER,
          through: ['unshare', '-Urm', '--propagation', 'slave', ...OWN_PIDS],
        },
        'control: of root, in the PID namespace of the node': { ...runtime, through: OWN_MOUNTS },
      }
      const done: Record<string, Done> = { alone: await apply(node) }
      for (const [name, options] of Object.entries(kinds)) {
        const child = await node.start(options)
        done[name] = await apply(node)
        await end(child)
      }
      return done
    }),

  /** volctl is in a PID namespace with nobody but who bears the name. */
  elsewhere: (directory) =>
    withNode(directory, {}, async (node) => {
      return {
        stranger: await apply(node, inPidNamespace(directory, 'stranger', AS_STRANGER)),
        root: await apply(node, inPidNamespace(directory, 'root', ['env'])),
      }
    }),
})
