/** What is open on a node, a line each: for those who watch it. */
import type { Operation, Plan, Waiting } from './plan.ts'
import { shownVolume } from './plan-names.ts'
import { podName } from './pod-name.ts'

/** By what each is about. */
export function openLines({ operations, waiting, problems }: Plan): ReadonlyMap<string, string> {
  const errors = problems.filter(({ severity }) => severity === 'error')
  return new Map([
    ...operations.map((each) => line(each, each.blocked === undefined ? 'ready' : `blocked: ${each.blocked.message}`)),
    ...waiting.map((each) => line(each, `waits: ${each.message}`)),
    ...errors.map(({ code, message, about }): [string, string] => [
      `${code} ${about.pod ?? about.volume ?? about.path ?? ''}`.trim(),
      `error: ${message}`,
    ]),
  ])
}

function line(of: Operation | Waiting, says: string): [string, string] {
  const what = [of.kind, of.volume && shownVolume(of), of.pod && `of ${podName(of.pod)}`]
  const name = what.filter((each) => each !== undefined).join(' ')
  return [name, `${name}: ${says}`]
}
