import { expect, it } from 'vitest'
import { errorText } from '../../src/core/cli/report-error.ts'
import { advice, volctl } from '../../src/core/messages/command.ts'
import { VolctlError } from '../../src/core/messages/findings.ts'
import { palette } from '../../src/core/views/screen.ts'

const path = `/var/lib/kubelet/pods/${'d'.repeat(36)}/volumes/kubernetes.io~csi/pv-1/mount`
const error = new VolctlError(
  { code: 'X', message: `the mount on ${path} does not answer, and nobody knows for how long` },
  {
    hint: advice`The journal lists what was begun and not finished: ${volctl('journal', '--since', 'yesterday')}.`,
  },
)

it('on a terminal: broken between words, paths and commands whole', async () =>
  expect(errorText(error, false, await palette(false), 50)).toBe(`volctl: the mount on
        ${path}
        does not answer, and nobody knows for how
        long
        The journal lists what was begun and not
        finished:
        volctl journal --since yesterday.
`))

it('as JSON one line on any terminal', async () =>
  expect(
    errorText(error, true, await palette(false), 40)
      .trimEnd()
      .split('\n'),
  ).toHaveLength(1))
