import { beforeAll, describe, expect, it } from 'vitest'
import { noMounts } from '../helpers/namespace.ts'
import { runScenario } from './run-scenario.ts'
import type { RefusalsReport } from './scenarios/refusals.ts'

describe.skipIf(noMounts !== undefined)(
  'bad input on a live node: one clear line, the right status, nothing changed',
  () => {
    let report: RefusalsReport
    beforeAll(async () => {
      report = await runScenario('refusals')
    })

    it.each([
      { name: 'a kubeconfig that is not there', status: 1, says: '/nonexistent does not exist' },
      { name: 'a kubeconfig that is none', status: 1, says: 'has no contexts' },
      { name: 'an unknown context', status: 1, says: 'has no context "elsewhere"' },
      { name: 'an API server that is down', status: 1, says: 'cannot be reached: connect ECONNREFUSED' },
      { name: 'a certificate of another authority', status: 1, says: 'TLS with the API server' },
      { name: 'a token that is not known', status: 1, says: 'Unauthorized' },
      { name: 'S3: a user without rights', status: 1, says: 'pods is forbidden: User "nobody"' },
      { name: 'no such root directory', status: 1, says: '/nonexistent does not exist' },
      { name: 'S3: a server that answers with something else', status: 1, says: 'is not JSON' },
      { name: 'S3: an API server that fails', status: 1, says: '500' },
      { name: 'S1: another cluster with a node of the same name', status: 4, says: 'refused: ' },
      { name: 'S1: no such node', status: 4, says: 'refused: ' },
      { name: 'S1: another machine', status: 4, says: 'refused: ' },
      { name: 'S1: another machine ID beside the same system UUID', status: 4, says: 'its machineID is ' },
      { name: 'S1: another system UUID beside the same machine ID', status: 4, says: 'its systemUUID is ' },
      { name: 'S1: another boot beside a kubelet that runs', status: 4, says: 'its bootID is ' },
      { name: 'S29: no pod in the API, though processes of pods run', status: 4, says: 'refused: ' },
    ])('$name: $status', ({ name, status, says }) => {
      const refusal = report[name]
      expect(refusal?.plan.status).toBe(status)
      expect(refusal?.apply.status).toBe(status)
      expect(refusal?.unchanged).toBe(true)
      for (const run of [refusal?.plan, refusal?.apply]) {
        expect(run?.stderr).toContain(says)
        // One line that says what, one that says what to do.
        expect(run?.stderr.split(/^(?=volctl: )/m).at(-1)).toMatch(/^volctl: .+\n {8}.+\n$/)
        expect(run?.stderr.match(/^volctl: /gm)).toHaveLength(1)
      }
    })
  },
)
