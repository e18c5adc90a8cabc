import { execa, type Options } from 'execa'
import { BUNDLE, TEST_BUNDLE } from '../helpers/volctl-program.ts'

export const CAPTURES = new URL('../fixtures/captures/', import.meta.url).pathname

export interface Result {
  readonly status: number | undefined
  readonly stdout: string
  readonly stderr: string
}

/** Runs the bundle to its end; that of the tests where a node of theirs is named. */
export async function volctl(
  args: readonly string[],
  { program, ...options }: Options & { readonly program?: string } = {},
): Promise<Result> {
  const started = program ?? (options.env?.VOLCTL_TEST_HOST === undefined ? BUNDLE : TEST_BUNDLE)
  const { exitCode, stdout, stderr } = await execa(started, args, {
    ...options,
    reject: false,
    stdin: 'ignore',
    stripFinalNewline: false,
  })
  return { status: exitCode, stdout: String(stdout ?? ''), stderr: String(stderr ?? '') }
}
