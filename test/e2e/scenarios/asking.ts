/** Standard input, and the question: on one broken node, which stays as it is until the last runs. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import type { Scene } from '../../helpers/scene/scene.ts'
import { type Run, runVolctl } from '../../helpers/scene/volctl.ts'
import { VOLCTL } from '../../helpers/volctl-program.ts'
import { onTerminal } from './on-terminal.ts'
import { planOf, withScene, writeReport } from './scenario.ts'

export interface AskingReport {
  /** Operations of the plan at the beginning, and after all runs that must change nothing. */
  readonly before: number
  readonly after: number
  readonly pipedNo: Run
  readonly pipedYes: Run
  readonly json: Run
  readonly yesIsFalse: Run
  /** On a terminal of 80 columns and 24 lines. */
  readonly sized: Run
  readonly unseen: Run
  /** What a shell loop around volctl has read of its list. */
  readonly loop: Run
  readonly empty: Run
  readonly writable: Run
  readonly unknownPod: Run
  readonly ignored: Run
  readonly fromPipe: Run
  readonly left: number
}

const APPLY = `${VOLCTL} apply --orphans`
const say =
  (answer: string): (() => string) =>
  () =>
    answer

await withScene(
  async (scene) => {
    await scene.breakIt()
    const count = async (): Promise<number> => (await planOf(scene, '--orphans')).plan.operations.length
    const file = join(scene.directory, 'node.plan')
    await runVolctl(scene, ['plan', '--orphans', '--out', file])
    const before = await count()
    const still = {
      pipedNo: await onTerminal(scene, say(''), `echo n | ${APPLY}`),
      pipedYes: await onTerminal(scene, say(''), `echo yes | ${APPLY}`),
      json: await onTerminal(scene, say('n\n'), `${APPLY} -o json`),
      sized: await onTerminal(scene, say('n\n'), `stty rows 24 cols 80; ${APPLY} --no-color`),
      yesIsFalse: await onTerminal(scene, say('n\n'), `${APPLY} --yes=false`),
      unseen: await onTerminal(scene, say(''), `${APPLY} 2>${file}.err; status=$?; cat ${file}.err; exit $status`),
      loop: await shell(
        scene,
        `printf 'a\\nb\\nc\\n' | while read name; do
           ${VOLCTL} explain pv/none; ${VOLCTL} apply --only remount; ${VOLCTL} plan; ${VOLCTL} journal
           echo "read $name"
         done`,
      ),
      empty: await shell(scene, `${VOLCTL} apply - </dev/null`),
      unknownPod: await shell(scene, `${APPLY} --pod default/nobody`),
      ignored: await shell(scene, `${APPLY} --pod default/nobody --ignore-not-found`),
    }
    chmodSync(file, 0o666)
    const writable = await shell(scene, `${VOLCTL} apply - <${file}`)
    chmodSync(file, 0o600)
    const after = await count()
    const fromPipe = await shell(scene, `cat ${file} | ${VOLCTL} apply -`)
    const report: AskingReport = { before, ...still, writable, after, fromPipe, left: await count() }
    writeReport(report)
  },
  { small: true },
)

/** Without a terminal, as cron does it. */
async function shell(scene: Scene, command: string): Promise<Run> {
  const child = spawn('setsid', ['sh', '-c', command], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...scene.env },
  })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const [status] = (await once(child, 'close')) as [number | null]
  return { status: status ?? undefined, stdout, stderr }
}
