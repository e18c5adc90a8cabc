import { execa, type Options } from 'execa'

/** Or another program that must do the same: the executable (test/package). */
export const VOLCTL = process.env.VOLCTL_PROGRAM ?? new URL('../../bin/volctl', import.meta.url).pathname
export const CAPTURES = new URL('../fixtures/captures/', import.meta.url).pathname

export interface Result {
  readonly status: number | undefined
  readonly stdout: string
  readonly stderr: string
}

/** Runs the built volctl to its end. */
export async function volctl(args: readonly string[], options: Options = {}): Promise<Result> {
  const { exitCode, stdout, stderr } = await execa(VOLCTL, args, {
    ...options,
    reject: false,
    stdin: 'ignore',
    stripFinalNewline: false,
  })
  return { status: exitCode, stdout: String(stdout ?? ''), stderr: String(stderr ?? '') }
}
