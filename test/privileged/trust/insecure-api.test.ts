/** S34: where the kubeconfig says that TLS is not to be verified, or asks without it, a person says yes to that. */
import { describe, expect, it } from 'vitest'
import { inNamespace } from '../../helpers/in-namespace.ts'
import { noRoot } from '../../helpers/namespace.ts'
import type { Report } from './insecure-api.worker.ts'

const WORKER = new URL('./insecure-api.worker.ts', import.meta.url)

/** However it is put. */
const SAID = /insecure|not verified|unverified|without tls|plain.?http|unencrypted|not encrypted|clear ?text/i

describe.skipIf(noRoot !== undefined)(
  `an API server that may be another${noRoot === undefined ? '' : ` (${noRoot})`}`,
  () => {
    it.each(['unverified', 'plain'])(
      'S34: %s: plan, journal and refusal say so, and apply wants a flag',
      async (scenario) => {
        const report = await inNamespace<Report>(WORKER, scenario)
        expect(report.table).toEqual({ status: 0, header: expect.stringMatching(SAID) })
        expect(report.json).toEqual({ status: 0, text: expect.stringMatching(SAID) })
        expect(report.refused).toEqual({
          status: 4,
          code: 'InsecureApi',
          stderr: expect.stringMatching(/refused: .*--accept-insecure-api/),
        })
        expect(report).toMatchObject({ kept: true, accepted: { status: 0, mounted: false } })
        expect(report.journal).toMatch(SAID)
      },
    )

    it('control: of one that is shown to be the right one nothing is said', async () => {
      const report = await inNamespace<Report>(WORKER, 'control')
      expect(report.table).toEqual({ status: 0, header: expect.not.stringMatching(SAID) })
      expect(report).toMatchObject({ json: { status: 0 }, refused: { status: 0 }, kept: false })
    })
  },
)
