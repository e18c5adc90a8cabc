import type { Reporter, TestCase, TestModule } from 'vitest/node'
import { noMounts } from './namespace.ts'

/** Says in one line, after all else, how many tests were left out and why. */
export default class LeftOut implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests('skipped')])
    const said = [...Map.groupBy(tests, reasonOf)].map(([reason, { length }]) => `${length}: ${reason}`)
    // Once the summary is out.
    if (said.length > 0) process.once('exit', () => console.log(`left out: ${said.join('; ')}`))
  }
}

/** A skip's note, or words in brackets at the end of a title; a rule's number is none. */
function reasonOf(test: TestCase): string {
  const result = test.result()
  const note = result.state === 'skipped' ? result.note : ''
  return note || /\(([^()]*[a-z] [^()]*)\)(?: > |$)/.exec(test.fullName)?.[1] || noMounts || 'as their titles say'
}
