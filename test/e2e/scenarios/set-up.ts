/** Volumes brought up by the built volctl: after a reboot with the kubelet down, for a new pod, and when content changes. */
import { lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Violation } from '../../helpers/csi-driver/journal.ts'
import { clusterObjects, type ScenePod } from '../../helpers/scene/api-objects.ts'
import type { Layout } from '../../helpers/scene/layouts.ts'
import { type Run, runVolctl } from '../../helpers/scene/volctl.ts'
import { type Fingerprint, fingerprint } from './fingerprint.ts'
import { type PlanRun, planOf, scenarioArguments, withScene, writeReport } from './scenario.ts'

const APPLY = ['apply', '--yes', '-o', 'ndjson'] as const

export interface SetUpReport {
  readonly before: Fingerprint
  readonly rebooted: PlanRun
  readonly apply: Run
  readonly after: PlanRun
  readonly end: Fingerprint
  readonly violations: readonly Violation[]
  /** Of the apply after the reboot, those that ended well. */
  readonly driverCalls: readonly string[]
  /** The configMap says something else: the plan, without and with the flag, and what the pod reads then. */
  readonly changed: { readonly plan: PlanRun; readonly apply: Run; readonly text: string; readonly after: PlanRun }
  /** A secret of a pod: content and mode. */
  readonly password: { readonly text: string; readonly mode: string }
  /** Everything that volctl printed and wrote: no secret may be in it. */
  readonly said: string
}

const [layout] = scenarioArguments as readonly Layout[]
const report = await withScene(
  async (scene): Promise<SetUpReport> => {
    const { web } = scene.pods
    const before = await fingerprint(scene)
    await scene.reboot()
    const rebooted = await planOf(scene)
    const calls = scene.driver.succeeded().length
    const apply = await runVolctl(scene, APPLY)
    const driverCalls = scene.driver.succeeded().slice(calls)
    const after = await planOf(scene)
    const end = await fingerprint(scene)

    const settings = clusterObjects().find((object) => (object as { kind: string }).kind === 'ConfigMap')
    await scene.api.put({ ...settings, data: { 'app.conf': 'greeting = good morning\n' } })
    const plan = await planOf(scene)
    const remount = await runVolctl(scene, [...APPLY, '--remount'])
    const text = readFileSync(join(volumeDir(scene.rootDir, web, 'configmap', 'settings'), 'app.conf'), 'utf8')
    const changed = { plan, apply: remount, text, after: await planOf(scene) }

    const password = join(volumeDir(scene.rootDir, web, 'secret', 'password'), 'password')
    const journal = readFileSync(join(scene.directory, 'journal', 'journal.jsonl'), 'utf8')
    return {
      before,
      rebooted,
      apply,
      after,
      end,
      violations: scene.driver.violations(),
      driverCalls,
      changed,
      password: {
        text: readFileSync(password, 'utf8'),
        mode: (lstatSync(join(password, '..', '..data', 'password')).mode & 0o7777).toString(8),
      },
      said: [rebooted.text, apply.stdout, apply.stderr, plan.text, remount.stdout, remount.stderr, journal].join('\n'),
    }
  },
  layout === undefined ? {} : { layout },
)
writeReport(report)

function volumeDir(rootDir: string, { uid }: ScenePod, plugin: string, name: string): string {
  return join(rootDir, 'pods', uid, 'volumes', `kubernetes.io~${plugin}`, name)
}
