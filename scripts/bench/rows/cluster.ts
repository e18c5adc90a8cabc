import { startBigCluster } from '../../../test/helpers/big-cluster/start.ts'
import { inRounds, peakMemory, ratios, ratiosOf, type Timed, timed } from '../measure.ts'
import { debianKubectl, type Programs } from '../programs.ts'
import type { Result, Row } from '../row.ts'

const ROUNDS = 7
/** kubectl needs minutes for more than this, and for 5,000 nodes more memory than a small machine has. */
const WITH_KUBECTL = [
  { nodes: 100, rounds: ROUNDS },
  { nodes: 1000, rounds: 1 },
]
const MOST_NODES = 5000
const MOST_MEMORY_MB = 400
const KINDS = 'pods,persistentvolumeclaims,persistentvolumes,volumeattachments'

/** A plan of a whole cluster, 30 pods a node, against kubectl with the same lists from the same server. */
export async function clusterRows(programs: Programs): Promise<Result[]> {
  const kubectl = debianKubectl(programs.directory('kubectl-cluster'))
  const rows: Result[] = []
  for (const { nodes, rounds } of WITH_KUBECTL) {
    const row: Row = {
      name: `\`plan --cluster\`, ${nodes} nodes and ${nodes * 30} pods`,
      peer: `\`kubectl get ${KINDS} -A -o json\``,
      scene: 'a healthy cluster in which volumes come and go; every third pod has one',
      demand: { atMost: 0.2 },
    }
    if ('missing' in kubectl) {
      rows.push({ ...row, notRun: kubectl.missing })
      continue
    }
    const directory = programs.directory(`cluster-${nodes}`)
    await using server = await startBigCluster(directory, { nodes })
    const plan = planOf(programs.executable, server.kubeconfig)
    const get: Timed = {
      command: [kubectl.path, '--kubeconfig', server.kubeconfig, 'get', KINDS, '-A', '-o', 'json'],
      env: { HOME: directory },
    }
    const runs =
      rounds === 1 ? { plan: [await timed(plan)], get: [await timed(get)] } : await inRounds({ plan, get }, rounds)
    rows.push({ ...row, measured: { executable: ratios(runs.plan, runs.get) } })
    const memory = [[await peakMemory(plan)], [await peakMemory(get)]] as const
    rows.push({
      ...row,
      name: `its peak memory, ${nodes} nodes`,
      demand: { atMost: 0.1 },
      measured: { executable: ratiosOf(...memory, 'MB') },
    })
  }
  rows.push(...(await largest(programs)))
  return rows
}

async function largest(programs: Programs): Promise<Result[]> {
  const small = MOST_NODES / 5
  const at = async (nodes: number): Promise<{ readonly ms: number; readonly mb: number }> => {
    await using server = await startBigCluster(programs.directory(`cluster-${nodes}`), { nodes })
    const plan = planOf(programs.executable, server.kubeconfig)
    const { ms } = await timed(plan)
    return { ms, mb: await peakMemory(plan) }
  }
  const [less, most] = [await at(small), await at(MOST_NODES)]
  const scene = `${MOST_NODES} nodes, ${MOST_NODES * 30} pods, ${MOST_NODES * 10} volumes`
  return [
    {
      name: `\`plan --cluster\`, ${MOST_NODES} nodes`,
      peer: `the same of ${small}`,
      scene,
      demand: { atMost: 6 },
      measured: { executable: ratiosOf([most.ms], [less.ms], 'ms') },
    },
    {
      name: `its peak memory, ${MOST_NODES} nodes`,
      peer: `${MOST_MEMORY_MB} MB`,
      scene,
      demand: { atMost: 1 },
      measured: { executable: ratiosOf([most.mb], [MOST_MEMORY_MB], 'MB') },
    },
  ]
}

function planOf(executable: string, kubeconfig: string): Timed {
  return { command: [executable, 'plan', '--cluster', '--kubeconfig', kubeconfig, '-o', 'json'] }
}
