import { startBigCluster } from '../../../test/helpers/big-cluster/start.ts'
import { inRounds, type Ratios, ratios, ratiosOf, type Timed, weighed } from '../measure.ts'
import { debianKubectl, type Programs } from '../programs.ts'
import type { Result, Row } from '../row.ts'

const ROUNDS = 7
/** Minutes each for kubectl: one run of a larger cluster shows as much. */
const SMALL = 100
const MIDDLE = 1000
/** kubectl keeps all objects of a list: for 150,000 pods some 40 GB. */
const LARGE = 5000
const MOST_MEMORY_MB = 400
const KINDS = 'pods,persistentvolumeclaims,persistentvolumes,volumeattachments'

type Weighed = Awaited<ReturnType<typeof weighed>>

/** A plan of a whole cluster, 30 pods a node, against kubectl with the same lists from the same server; and how it grows. */
export async function clusterRows(programs: Programs): Promise<Result[]> {
  const kubectl = debianKubectl(programs.directory('kubectl-cluster'))
  const path = 'missing' in kubectl ? undefined : kubectl.path
  const small = await atSize(programs, SMALL, path, ROUNDS)
  const middle = await atSize(programs, MIDDLE, path, 0)
  const large = await atSize(programs, LARGE, undefined, 0)
  return [
    ...againstKubectl(SMALL, small, 'missing' in kubectl ? kubectl.missing : undefined),
    ...againstKubectl(MIDDLE, middle, 'missing' in kubectl ? kubectl.missing : undefined),
    ...againstKubectl(LARGE, large, 'kubectl needs more memory than the machine has'),
    ...growth(middle.plan, large.plan),
  ]
}

interface Measures {
  readonly plan: Weighed
  /** Absent: it was not run. */
  readonly get?: Weighed
  /** Of the rounds, where there were some. */
  readonly rounds?: Ratios
}

async function atSize(
  programs: Programs,
  nodes: number,
  kubectl: string | undefined,
  rounds: number,
): Promise<Measures> {
  const directory = programs.directory(`cluster-${nodes}`)
  await using server = await startBigCluster(directory, { nodes })
  const access = ['--kubeconfig', server.kubeconfig]
  const plan: Timed = { command: [programs.executable, 'plan', '--cluster', ...access, '-o', 'json'] }
  const alone = await weighed(plan)
  if (kubectl === undefined) return { plan: alone }
  const get: Timed = {
    command: [kubectl, ...access, 'get', KINDS, '-A', '-o', 'json'],
    env: { HOME: directory },
  }
  const both = { plan: alone, get: await weighed(get) }
  if (rounds === 0) return both
  const runs = await inRounds({ plan, get }, rounds)
  return { ...both, rounds: ratios(runs.plan, runs.get) }
}

function againstKubectl(nodes: number, { plan, get, rounds }: Measures, notRun: string | undefined): Result[] {
  const row = {
    peer: `\`kubectl get ${KINDS} -A -o json\``,
    scene: `a healthy cluster in which volumes come and go: ${nodes} nodes, ${nodes * 30} pods, ${nodes * 10} volumes`,
  }
  const time: Row = { ...row, name: `\`plan --cluster\`, ${nodes} nodes`, demand: { atMost: 0.2 } }
  const memory: Row = { ...row, name: `its peak memory, ${nodes} nodes`, demand: { atMost: 0.15 } }
  if (get === undefined) return [time, memory].map((each) => ({ ...each, notRun: notRun ?? 'kubectl was not run' }))
  return [
    { ...time, measured: { executable: rounds ?? ratios([plan], [get]) } },
    { ...memory, measured: { executable: ratiosOf([plan.mb], [get.mb], 'MB') } },
  ]
}

/** Linear, with a fifth to spare. */
function growth(less: Weighed, most: Weighed): Result[] {
  const scene = `${LARGE} nodes, ${LARGE * 30} pods, ${LARGE * 10} volumes`
  return [
    {
      name: `\`plan --cluster\`, ${LARGE} nodes`,
      peer: `the same of ${MIDDLE}`,
      scene,
      demand: { atMost: 1.2 * (LARGE / MIDDLE) },
      measured: { executable: ratios([most], [less]) },
    },
    {
      name: `its peak memory, ${LARGE} nodes`,
      peer: `${MOST_MEMORY_MB} MB`,
      scene,
      demand: { atMost: 1 },
      measured: { executable: ratiosOf([most.mb], [MOST_MEMORY_MB], 'MB') },
    },
  ]
}
