/** Finalizers are taken off only by somebody who has read the plan: its digest is shown, and has to be given or typed. */
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ago, attached, base, claimed, node, pod } from '../cluster/apply/scene.ts'
import { startApiServer, type TestApiServer } from '../helpers/api-server/start.ts'
import { type Result, volctl } from '../helpers/run-main.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { BUNDLE } from '../helpers/volctl-program.ts'

const GONE = { attacher: 'old.csi.example.com', nodeName: 'busy', source: { persistentVolumeName: 'pv-old' } }
const NEEDED = ['--cluster', '--strip-finalizers']

let api: TestApiServer
beforeAll(async () => {
  api = await startApiServer({ detachDelayMs: -1 })
  api.put(...base(), ...node('busy'), ...claimed('data'), pod('web-0', 'busy', 'data'), attached('data', 'busy'))
  api.put({ ...attached('old', 'busy', { deletionTimestamp: ago(60) }), spec: GONE })
})
afterAll(() => api.stop())

const state = temporaryDirectory()
const env = { XDG_STATE_HOME: state }
const kubeconfig = (): string[] => ['--kubeconfig', api.kubeconfig('admin')]
const plan = (...args: string[]): Promise<Result> => volctl(['plan', ...NEEDED, ...kubeconfig(), ...args])
const apply = (...args: string[]): Promise<Result> => volctl(['apply', ...NEEDED, ...kubeconfig(), ...args], { env })

async function digest(): Promise<string> {
  return (JSON.parse((await plan('-o', 'json')).stdout) as { digest: string }).digest
}

/** The command that carries the plan out where nobody can be asked. */
function againWith(of: string, ...more: string[]): string {
  const flags = ['--kubeconfig', api.kubeconfig('admin'), '--cluster', '--strip-finalizers']
  return ['volctl apply', ...flags, ...more, '--confirm', of].join(' ')
}

function changes(): number {
  return api.requests().filter(({ method, path }) => method !== 'GET' && path.includes('volumeattachments')).length
}

/** At a terminal, where this is typed. */
async function atTerminal(typed: string): Promise<{ status: number | undefined; shown: string }> {
  const command = [BUNDLE, 'apply', ...NEEDED, ...kubeconfig()].join(' ')
  const { exitCode, stdout } = await execa(
    'script',
    ['--quiet', '--flush', '--return', '--command', command, '/dev/null'],
    { input: `${typed}\n`, reject: false, env: { ...env, TERM: 'dumb' } },
  )
  return { status: exitCode, shown: stdout }
}

describe('the digest of a plan that takes finalizers off', () => {
  it('is in the plan, as text and as JSON, and in no other plan', async () => {
    expect((await plan()).stdout).toContain(`${againWith(await digest())}  # `)
    const other = await volctl(['plan', '--cluster', ...kubeconfig(), '-o', 'json'])
    expect(JSON.parse(other.stdout)).not.toHaveProperty('digest')
  })

  it.each([
    { name: 'missing', args: ['--yes'], says: 'has to be confirmed with the digest of the plan: nothing was changed' },
    {
      name: 'wrong',
      args: ['--yes', '--confirm', 'abc'],
      says: '"abc" is not the digest of this plan: nothing was changed',
    },
  ])('is $name: nothing is changed, and the next step names it', async ({ args, says }) => {
    const { status, stderr } = await apply(...args)
    expect([status, stderr.replaceAll(/\s+/g, ' ')]).toEqual([1, expect.stringContaining(says)])
    expect(stderr).toContain(againWith(await digest(), '--yes'))
    expect(changes()).toBe(0)
  })

  it('is asked for on a terminal, where "yes" is not enough', async () => {
    const { status, shown } = await atTerminal('yes')
    expect(shown.replaceAll(/\s+/g, ' ')).toContain(`Type the digest of the plan, ${await digest()}, to continue`)
    expect(status).toBe(1)
    expect(changes()).toBe(0)
  })

  it('typed on a terminal takes them off', async () => {
    const { status, shown } = await atTerminal(await digest())
    expect([status, shown]).toEqual([0, expect.stringContaining('1 done')])
    expect(changes()).toBe(1)
  })
})
