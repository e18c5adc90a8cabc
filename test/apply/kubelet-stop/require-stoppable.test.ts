import { expect, it } from 'vitest'
import { requireStoppable, type UnitFacts } from '../../../src/core/node/kubelet/stoppable.ts'

const FACTS: UnitFacts = {
  unit: 'kubelet.service',
  activeState: 'active',
  subState: 'running',
  unitFileState: 'enabled',
  killMode: 'control-group',
  refusesManually: false,
  startedBy: [],
  stopsToo: [],
  containers: [],
  runsRuntime: false,
  servesApi: false,
}
const SHIM = { pid: 7, comm: 'containerd-shim' }
/** The words of the refusal, or the unit that may be stopped. */
function outcomeOf(unit: string, facts: UnitFacts | undefined): string {
  try {
    return requireStoppable(unit, facts).unit
  } catch (error) {
    const { code, message } = error as { code: string; message: string }
    return `${code}: ${message}`
  }
}

/** What a real unit shows is in privileged/stop/stop.test.ts. */
it.each<{ name: string; unit?: string; facts?: Partial<UnitFacts> | null; outcome: string }>([
  { name: 'a unit that runs the kubelet alone', outcome: 'kubelet.service' },
  { name: 'no systemd, or not its unit', facts: null, outcome: 'systemd knows no unit' },
  { name: 'a unit between two starts', facts: { activeState: 'activating' }, outcome: 'is activating' },
  {
    name: 'a unit that only dependencies stop',
    facts: { refusesManually: true },
    outcome: 'may not be stopped or started by hand',
  },
  { name: 'a unit without a file', facts: { unitFileState: 'transient' }, outcome: 'forgets it' },
  { name: 'a k3s server', unit: 'k3s.service', outcome: "k3s.service runs this node's API server" },
  {
    name: 'who listens on its port',
    facts: { servesApi: true },
    outcome: "kubelet.service runs this node's API server",
  },
  {
    name: 'S37: a k3s server with containers that would end with it',
    unit: 'k3s.service',
    facts: { containers: [SHIM] },
    outcome: 'would end containers',
  },
  {
    name: 'containers that outlive it (k3s, RKE2, k0s)',
    facts: { containers: [SHIM], killMode: 'process' },
    outcome: 'kubelet.service',
  },
])('S35: $name: $outcome', ({ unit = FACTS.unit, facts = {}, outcome }) => {
  const isRefused = outcome !== unit
  const said = outcomeOf(unit, facts === null ? undefined : { ...FACTS, unit, ...facts })
  expect(said).toMatch(new RegExp(isRefused ? `^KubeletNotStopped: .*${outcome}` : `^${outcome}$`))
})
