import { expect, it } from 'vitest'
import { errorText } from '../../src/core/cli/report-error.ts'
import { VolctlError } from '../../src/core/messages/findings.ts'
import { palette } from '../../src/core/views/screen.ts'

it.each([
  { structured: false, lines: ['volctl: the mount does not', '        answer', '        Plan again.'] },
  { structured: true, lines: [expect.stringMatching(/^\{.*"hint":"Plan again\."\}$/)] },
])('on a terminal broken between words; as JSON one line on any: $structured', async ({ structured, lines }) => {
  const error = new VolctlError({ code: 'X', message: 'the mount does not answer' }, { hint: 'Plan again.' })
  expect(
    errorText(error, structured, await palette(false), 28)
      .trimEnd()
      .split('\n'),
  ).toEqual(lines)
})
