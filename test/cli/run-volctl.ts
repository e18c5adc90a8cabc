import { execa, type Options } from 'execa'
import type { Result } from '../helpers/run-main.ts'
import { BUNDLE } from '../helpers/volctl-program.ts'

/** Starts a volctl and runs it to its end, for what is about the process itself; all else is run-main.ts. */
export async function startVolctl(
  args: readonly string[],
  { program = BUNDLE, ...options }: Options & { readonly program?: string } = {},
): Promise<Result> {
  const { exitCode, stdout, stderr } = await execa(program, args, {
    ...options,
    reject: false,
    stdin: 'ignore',
    stripFinalNewline: false,
  })
  return { status: exitCode, stdout: String(stdout ?? ''), stderr: String(stderr ?? '') }
}
