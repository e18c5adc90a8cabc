import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Scene } from '../../helpers/scene/scene.ts'
import type { Run } from '../../helpers/scene/volctl.ts'
import { VOLCTL } from '../../helpers/volctl-program.ts'

/** Runs `apply --orphans`, or another command line, on a terminal, by script(1), and types this when it asks. */
export async function onTerminal(
  scene: Scene,
  type: () => string,
  command = `${VOLCTL} apply --orphans`,
): Promise<Run> {
  const child = spawn('script', ['--quiet', '--return', '--flush', '--command', command, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...scene.env, TERM: 'xterm', NO_COLOR: '' },
  })
  let stdout = ''
  let asked = false
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    if (asked || !stdout.includes('to continue: ')) return
    asked = true
    child.stdin.write(type())
  })
  const [status] = (await once(child, 'close')) as [number | null]
  return { status: status ?? undefined, stdout, stderr: '' }
}
