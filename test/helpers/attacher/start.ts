import { fileURLToPath } from 'node:url'
import type { TestApiServer } from '../api-server/start.ts'
import { type Program, startProgram } from '../start-program.ts'

export interface AttacherOptions {
  readonly driver: string
  readonly delayMs?: number
  readonly attachError?: string
  readonly detachError?: string
}

/** Starts the external attacher of a driver. */
export async function startAttacher(api: TestApiServer, options: AttacherOptions): Promise<Program & AsyncDisposable> {
  const { driver, delayMs = 0, attachError = '', detachError = '' } = options
  const main = fileURLToPath(new URL('./main.ts', import.meta.url))
  const program = await startProgram(main, [
    ...[api.kubeconfig('admin'), driver, String(delayMs)],
    ...[attachError, detachError],
  ])
  return { ...program, [Symbol.asyncDispose]: () => program.end('SIGKILL') }
}
