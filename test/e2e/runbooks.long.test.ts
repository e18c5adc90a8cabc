/** Every command of docs/runbooks.md, as it stands there, on a node in the state that its runbook is for. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { DEFAULT_SETTLE_MS } from '../../src/core/plan/plan.ts'
import { docSections } from '../helpers/doc-commands.ts'
import { noMounts } from '../helpers/namespace.ts'
import { NAMESPACE, pod, pvOf } from '../helpers/scene/api-objects.ts'
import { IDLE } from '../helpers/scene/pods.ts'
import { makeScene, type Scene, setAlive } from '../helpers/scene/scene.ts'
import { runVolctl } from '../helpers/scene/volctl.ts'
import { describeUnless } from '../privileged/describe-unless.ts'
import { hostSays } from './story.ts'

/** How the node comes into the state that a runbook is for, one after another. */
const STATES: Readonly<Record<string, (scene: Scene) => Promise<void> | void>> = {
  'The kubelet is stuck': (scene) => scene.breakIt(),
  'A drain hangs': terminating,
  'After a reboot': async (scene) => {
    await scene.setUp()
    await scene.reboot()
  },
  'A StatefulSet cannot move': (scene) => {
    scene.api.remove('Pod', scene.pods.web.name, NAMESPACE)
    setAlive(scene, [])
  },
  'An attachment stays': async (scene) => {
    await scene.setUp()
    await scene.breakIt()
  },
}

/** The pod was deleted, its containers have ended, and the kubelet that would unmount its volumes is down. */
function terminating(scene: Scene): void {
  const { api, pods, sources } = scene
  const running = pod(pods.web, sources.hostPath) as { metadata: object; status: object }
  const now = new Date(Date.now() - 300_000).toISOString()
  const metadata = { ...running.metadata, deletionTimestamp: now, deletionGracePeriodSeconds: 30 }
  const containerStatuses = [{ name: 'main', state: { terminated: { exitCode: 0, finishedAt: now } } }]
  api.put({ ...running, metadata, status: { ...running.status, containerStatuses } })
  setAlive(scene, [])
}

/** What is left of the settle time when apply begins: it waits for that. */
const LEFT_MS = 2000

/** The kubelet after `systemctl start`, and before an apply, as the test host shows it. */
function kubelet(scene: Scene, word: 'start' | 'stop'): void {
  const stoppedAt = new Date(Date.now() - DEFAULT_SETTLE_MS + LEFT_MS).toISOString()
  const unit = 'kubelet.service'
  hostSays(scene, {
    kubelet:
      word === 'start'
        ? { running: true, mayReturn: true, unit }
        : { running: false, mayReturn: false, unit, stoppedAt, stopShownBy: 'unit' },
  })
}

const books = docSections('runbooks.md').filter(({ commands }) => commands.length > 0)

describeUnless(noMounts, 'docs/runbooks.md', () => {
  let scene: Scene
  beforeAll(async () => {
    scene = await makeScene()
  })
  afterAll(() => scene.dispose())

  it('each runbook has a node in its state', () => expect(Object.keys(STATES)).toEqual(books.map(({ title }) => title)))

  it.each(books)('$title', async ({ title, lines }) => {
    await STATES[title]?.(scene)
    for (const command of lines) {
      const [program, word] = command.split(' ')
      if (program === 'systemctl' && word === 'start') kubelet(scene, word)
      if (word === 'apply') kubelet(scene, 'stop')
      if (program !== 'volctl') continue
      const volume = title === 'An attachment stays' ? pvOf(IDLE) : 'pv-web'
      const typed = command.replace('/root', scene.directory).replace('pv-web', volume)
      const { status, stdout, stderr } = await runVolctl(scene, typed.split(' ').slice(1))
      expect(status, `${command}\n${stdout}${stderr}`).toBe(0)
    }
  })
})
