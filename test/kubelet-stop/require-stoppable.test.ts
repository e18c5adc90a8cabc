import { expect, it } from 'vitest'
import { requireStoppable, type UnitFacts } from '../../src/core/node/kubelet-stop/stoppable.ts'

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
const asked = (facts: Partial<UnitFacts>, otherApi = false) => {
  const all = { ...FACTS, ...facts }
  return { unit: all.unit, facts: all, otherApi }
}
/** The words of the refusal, or the unit that may be stopped. */
function outcomeOf(unit: string, facts: UnitFacts | undefined, otherApi: boolean): string {
  try {
    return requireStoppable(unit, facts, otherApi).unit
  } catch (error) {
    const { code, message } = error as { code: string; message: string }
    return `${code}: ${message}`
  }
}

/** What a real unit shows is in privileged/stop/stop.test.ts. */
it.each([
  { name: 'a unit that runs the kubelet alone', given: asked({}), outcome: 'kubelet.service' },
  { name: 'no systemd, or not its unit', given: { ...asked({}), facts: undefined }, outcome: 'systemd knows no unit' },
  { name: 'a unit between two starts', given: asked({ activeState: 'activating' }), outcome: 'is activating' },
  {
    name: 'a unit that only dependencies stop',
    given: asked({ refusesManually: true }),
    outcome: 'may not be stopped or started by hand',
  },
  { name: 'a unit without a file', given: asked({ unitFileState: 'transient' }), outcome: 'forgets it' },
  { name: 'a k3s server', given: asked({ unit: 'k3s.service' }), outcome: 'API server' },
  {
    name: 'a k3s server, and another API server',
    given: asked({ unit: 'k3s.service' }, true),
    outcome: 'k3s.service',
  },
  {
    name: 'containers that outlive it (k3s, RKE2, k0s)',
    given: asked({ containers: [SHIM], killMode: 'process' }),
    outcome: 'kubelet.service',
  },
])('S35: $name: $outcome', ({ given, outcome }) => {
  const { unit, facts, otherApi } = given
  const isRefused = outcome !== unit
  expect(outcomeOf(unit, facts, otherApi)).toMatch(
    new RegExp(isRefused ? `^KubeletNotStopped: .*${outcome}` : `^${outcome}$`),
  )
})
