import { expect, it } from 'vitest'
import { type CodeExplanation, explainCode } from '../../../src/core/explain/explain-code.ts'
import { renderCode } from '../../../src/core/views/explain-view.ts'
import { PLAIN_SCREEN } from '../../../src/core/views/screen.ts'

const shown = (code: string): string => renderCode(explainCode(code) as CodeExplanation, { ...PLAIN_SCREEN, width: 80 })

it('in two places, by one rule', () =>
  expect(shown('DriverUnavailable')).toMatchInlineSnapshot(`
    "DriverUnavailable

    Meaning:     A driver is not registered or not installed here, or its socket
                 does not answer.
    Appears in:  blocked: an operation is blocked by it, in a plan or when an apply
                 looks again
                 waiting: someone else has to act first
                 problem: a plan reports it
    What to do:  Bring the driver's node plugin back (its DaemonSet; a flexVolume's
                 program), and look at its log. If it is gone for good:
                 volctl plan --driver-gone NAME
    Rules:       S16, P87
    "
  `))
