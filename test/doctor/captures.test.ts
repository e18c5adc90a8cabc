import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Doctor } from '../../src/core/doctor/check.ts'
import { diagnose } from '../../src/core/doctor/diagnose.ts'
import { renderDoctor } from '../../src/core/views/doctor-view.ts'
import { PLAIN_SCREEN } from '../../src/core/views/screen.ts'
import { UNICODE_SYMBOLS } from '../../src/core/views/symbols.ts'
import { textWidth } from '../../src/core/views/text-width.ts'
import { captureFiles, recorded } from '../helpers/captures.ts'
import { planOptions } from '../helpers/plan-options.ts'

const files = captureFiles(['node.json', 'before.json'])
const screen = { ...PLAIN_SCREEN, symbols: UNICODE_SYMBOLS, width: 80, rows: 24 }

async function doctorOf(path: string): Promise<Doctor> {
  const state = await recorded(path)
  return diagnose({ state, failures: {} }, planOptions(), state.snapshot.capturedAt)
}

describe.each(files)('%s', (path) => {
  it('a plan can be made from it', async () => {
    const doctor = await doctorOf(path)
    expect(doctor.works).toEqual({ plan: true })
    // Of a driver that was uninstalled with its volumes still there.
    expect(doctor.checks.flatMap(({ id, state }) => (state === 'failed' ? id : []))).toEqual(
      path.startsWith('empty-dirs') ? ['CsiDriver'] : [],
    )
  })

  it('fits into 80 columns, and ends with the verdict and the next command', async () => {
    const text = renderDoctor(await doctorOf(path), screen, 'volctl plan --snapshot node.json')
    await expect(text).toMatchFileSnapshot(join(import.meta.dirname, 'golden', `${path.replaceAll('/', '-')}.txt`))
    const lines = text.trimEnd().split('\n')
    expect(lines.filter((line) => textWidth(line) > 80)).toEqual([])
    expect(lines[0]).toContain('a plan can be made from this snapshot')
    expect(lines.slice(-2).join('\n')).toMatch(/^Next: volctl plan --snapshot node\.json /m)
  })
})
