/** S33, S34: programs are found on a fixed path, and no variable of the caller's reaches Node or what is started. */
import { describe, expect, it } from 'vitest'
import { inNamespace } from '../../helpers/in-namespace.ts'
import { noRoot } from '../../helpers/namespace.ts'
import type { Report } from './environment.worker.ts'

const WORKER = new URL('./environment.worker.ts', import.meta.url)

describe.skipIf(noRoot !== undefined)(`the caller's environment${noRoot === undefined ? '' : ` (${noRoot})`}`, () => {
  it.each(['stopped', 'elsewhere'])('S33: runs nothing and loads nothing; kubelet: %s', async (scenario) => {
    const { plain, ...report } = await inNamespace<Report>(WORKER, scenario)
    expect(plain).toMatchObject({ plan: { node: 'node-1' }, mounted: false })
    expect(report).toEqual({ lied: plain, ran: '', written: [] })
  })

  it('S34: makes no server believed that the kubeconfig does not vouch for', async () => {
    const refused = { status: 1, code: expect.stringMatching(/./) }
    const { plain, ...others } = await inNamespace<Record<string, object>>(WORKER, 'authorities')
    expect(plain).toEqual(refused)
    expect(others).toEqual({ any: plain, another: plain, openssl: plain, asked: 0 })
  })

  it('S33: finds no credential plugin', async () => {
    expect(await inNamespace(WORKER, 'plugin')).toEqual({ status: 1, code: 'CredentialFailed', ran: '' })
  })
})
