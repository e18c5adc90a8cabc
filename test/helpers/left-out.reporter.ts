import type { Reporter, TestModule } from 'vitest/node'

/** Says in one line, after all else, how many tests were left out and why: a skip's reason is its note, or ends a title in brackets. */
export default class LeftOut implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const reasons = new Map<string, number>()
    for (const test of modules.flatMap((module) => [...module.children.allTests('skipped')])) {
      const result = test.result()
      const note = result.state === 'skipped' ? result.note : undefined
      const reason = note ?? test.fullName.match(/\(([^()]*)\)(?: > |$)/)?.[1] ?? test.fullName
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
    }
    const said = [...reasons].toSorted(([, a], [, b]) => b - a).map(([reason, count]) => `${count}: ${reason}`)
    // Once the summary is out.
    if (said.length > 0) process.once('exit', () => console.log(`left out: ${said.join('; ')}`))
  }
}
