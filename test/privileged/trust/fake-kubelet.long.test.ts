/** S32 and S33: whoever is called kubelet and is not root's, or not of this node, has no effect at all. */
import { beforeAll, describe, expect, it } from 'vitest'
import { inNamespace } from '../../helpers/in-namespace.ts'
import { noRoot } from '../../helpers/namespace.ts'
import type { Answers, FakeReport, Outcome, Report } from './fake-kubelet.worker.ts'

const WORKER = new URL('./fake-kubelet.worker.ts', import.meta.url)

const STOPPED = [
  '--kubeconfig',
  '--config, a FIFO',
  '--config-dir, with a FIFO',
  '--pod-manifest-path, a FIFO',
  '--root-dir',
  '--hostname-override',
  '--container-runtime-endpoint',
  '--volume-plugin-dir',
  'no flags',
  'the name of another kubelet',
  'its flags, and another name',
  'its flags, and a name that says it is root',
  'a mount namespace, as in a pod',
  'a user namespace, as without root',
  "root's effective uid, as from a set-uid program",
  'uid 0 in a user namespace',
  'uid 0 in a PID namespace',
]
const RUNNING = ['another root directory', 'a user namespace, as without root']

type InPod = Pick<FakeReport, 'ran' | 'asked' | 'mounted'> & { readonly plan: Outcome; readonly apply: Outcome }

const ALONE = { ended: 'itself' }
/** Nothing was run, nobody was asked, and all answers are what they are without it. */
const without = ({ alone }: Report): object => ({ ...alone, ran: '', asked: [] })

describe.skipIf(noRoot !== undefined)(
  `a process that is called kubelet${noRoot === undefined ? '' : ` (${noRoot})`}`,
  () => {
    let stopped: Report
    let running: Report
    beforeAll(async () => {
      stopped = await inNamespace<Report>(WORKER, 'stopped')
      running = await inNamespace<Report>(WORKER, 'running')
    })

    it('control: without one, what pods that are gone have left is found, and goes', () => {
      for (const { alone } of [stopped, running]) {
        expect(alone.given).toMatchObject({ ...ALONE, status: 0, says: { node: 'node-1' } })
        expect(alone.found).toEqual(alone.given)
        expect(alone.snapshot).toMatchObject({ ...ALONE, status: 0 })
        // Of a flexVolume the driver is missing.
        expect(alone.apply).toMatchObject({ ...ALONE, status: 3 })
        expect(alone.apply.says).toContainEqual(['UnmountVolume', 'done', ''])
        expect(alone.mounted).toBe(false)
      }
      expect(stopped.alone.given.says).toMatchObject({ kubelet: 'stopped' })
      expect(running.alone.given.says).toMatchObject({ kubelet: 'running' })
    })

    it.each(STOPPED)('S32: changes nothing while the kubelet is stopped, with %s', (name) => {
      expect(stopped.beside[name]).toEqual(without(stopped))
    })

    it.each(RUNNING)('S32: changes nothing beside the kubelet, with %s', (name) => {
      expect(running.beside[name]).toEqual(without(running))
    })

    it('S8: a child of the kubelet that has not begun its own program is no second kubelet', async () => {
      const { given, apply, mounted } = await inNamespace<Answers>(WORKER, 'forking')
      expect(given).toMatchObject({ ...ALONE, status: 0, says: { node: 'node-1', kubelet: 'running' } })
      expect({ apply, mounted }).toEqual({ apply: running.alone.apply, mounted: false })
    })

    it("S32: of a pod's container nothing is believed, run or loaded, though it has root's uid and the host's PIDs", async () => {
      const { ran, asked, mounted, plan, apply } = await inNamespace<InPod>(WORKER, 'inPod')
      expect({ ran, asked }).toEqual({ ran: '', asked: [] })
      expect(plan).toMatchObject({ ...ALONE, says: { node: 'node-1', kubelet: 'stopped' } })
      // That the pod lives is another matter: the API does not know it (S29).
      expect(apply).toMatchObject({ ...ALONE, status: 4, code: 'OutageSuspected' })
      expect(mounted).toBe(true)
    })
  },
)
