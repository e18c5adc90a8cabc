import { join } from 'node:path'
import { expect, it } from 'vitest'
import { diagnose } from '../../src/core/explain/doctor/diagnose.ts'
import { renderDoctor } from '../../src/core/views/doctor-view.ts'
import { PLAIN_SCREEN, UNICODE_SYMBOLS } from '../../src/core/views/screen.ts'
import { captureFiles, recorded } from '../helpers/captures.ts'
import { planOptions } from '../helpers/plan-options.ts'
import { saidTwice, tooWide } from '../helpers/screens.ts'

const screen = { ...PLAIN_SCREEN, symbols: UNICODE_SYMBOLS, width: 80, rows: 24 }
/** Of these the screen is compared with what it was. */
const KEPT: ReadonlySet<string> = new Set(['empty-dirs/before.json', 'healthy/node.json'])

it.each(captureFiles())(
  '%s: a plan can be made from it, and one screen says so, with the next command last',
  async (path) => {
    const state = await recorded(path)
    const doctor = diagnose({ state, failures: {} }, planOptions(), state.snapshot.capturedAt)
    expect(doctor.works).toEqual({ plan: true })
    // Of a driver that was uninstalled with its volumes still there.
    expect(doctor.checks.flatMap(({ id, state: is }) => (is === 'failed' ? id : []))).toEqual(
      path.startsWith('empty-dirs') ? ['CsiDriver'] : [],
    )
    const text = renderDoctor(doctor, screen, { applyFlags: [], snapshot: 'node.json' })
    const file = join(import.meta.dirname, 'golden', `${path.replaceAll('/', '-')}.txt`)
    if (KEPT.has(path)) await expect(text).toMatchFileSnapshot(file)
    const lines = text.trimEnd().split('\n')
    expect(lines.length).toBeLessThanOrEqual(24)
    expect(tooWide(text, 80)).toEqual([])
    expect(saidTwice(text)).toEqual([])
    expect(lines[0]).toContain('a plan can be made from this snapshot')
    expect(lines.slice(-2).join('\n')).toMatch(/^Next: volctl plan --snapshot node\.json /m)
  },
)
