/** The screen of `volctl doctor` of a node where several things are wrong. */
import { describe, expect, it } from 'vitest'
import { renderDoctor } from '../../../src/core/views/doctor-view.ts'
import { PLAIN_SCREEN, UNICODE_SYMBOLS } from '../../../src/core/views/screen.ts'
import { doctorOf, healthy } from '../../doctor/look-builder.ts'

const NARROW = { ...PLAIN_SCREEN, symbols: UNICODE_SYMBOLS, width: 80, rows: 24 }
const away = {
  api: {
    message: 'The API server https://api.test:6443 cannot be reached: ECONNREFUSED.',
    hint: 'Check that the API server is up.',
  },
}
const missingCapabilities = [{ name: 'CAP_SYS_PTRACE', bit: 19, use: 'see other processes' }]
const runtime = { source: 'none', pods: [] } as const
const broken = doctorOf({
  state: healthy().with({ api: undefined, runtime }),
  failures: away,
  host: { missingCapabilities },
})

describe('a node without an API server', () => {
  const text = renderDoctor(broken, NARROW, { applyFlags: [] })

  it('what is wrong, each with its next step; what is not known for one reason once', () =>
    expect(text).toMatchInlineSnapshot(`
      "node-1 (/var/lib/kubelet): volctl plan cannot work here

      Needs you
        ✗ privileges: root without CAP_SYS_PTRACE, needed to see other processes
          → Run volctl with these capabilities.
        ✗ API server: The API server https://api.test:6443 cannot be reached:
          ECONNREFUSED.
          → Check that the API server is up.
        ! container runtime: no container runtime answers here, and none is configured
          → Start the container runtime, or name its socket with --runtime-endpoint.

      8 checks: 2 failed, 1 warning, 5 ok (-o wide shows all)
      Next: do that, then: volctl doctor  # checks again
      "
    `))

  it('without root, that comes first', () => {
    const doctor = doctorOf({ failures: away, host: { uid: 1000 } })
    expect(renderDoctor(doctor, NARROW, { applyFlags: [] })).toMatch(
      /\nNeeds you\n {2}. privileges: .*\n(?:.*\n)? {4}→ As root: sudo volctl doctor\n/,
    )
  })

  it('of a snapshot, the same file is checked again', () =>
    expect(renderDoctor(broken, NARROW, { applyFlags: [], snapshot: 'node.json' })).toContain(
      '\nNext: do that, then: volctl doctor --snapshot node.json  #',
    ))

  it('-o wide has every check', () => {
    const wide = renderDoctor(broken, { ...PLAIN_SCREEN, wide: true }, { applyFlags: [] }).split('\n')
    for (const { title, message } of broken.checks)
      expect(wide.some((line) => line.includes(title) && line.includes(message))).toBe(true)
  })
})
