import { execa, type Options } from 'execa'
import { BUNDLE } from '../helpers/volctl-program.ts'

export const CAPTURES = new URL('../fixtures/captures/', import.meta.url).pathname

export interface Result {
  readonly status: number | undefined
  readonly stdout: string
  readonly stderr: string
}

/** Runs the bundle to its end. */
export async function volctl(args: readonly string[], options: Options = {}): Promise<Result> {
  const { exitCode, stdout, stderr } = await execa(BUNDLE, args, {
    ...options,
    reject: false,
    stdin: 'ignore',
    stripFinalNewline: false,
  })
  return { status: exitCode, stdout: String(stdout ?? ''), stderr: String(stderr ?? '') }
}
