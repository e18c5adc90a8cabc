/** "As it should be" is true: what a real API server says of attachments is said, from the plan, explain and a snapshot alike. */
import { beforeAll, describe, expect, it } from 'vitest'
import { noMounts } from '../helpers/namespace.ts'
import { runScenario } from './run-scenario.ts'
import type { VerdictsReport } from './scenarios/verdicts.ts'

const AS_IT_SHOULD_BE = 'Nothing to do: every volume on this node is as it should be.'

const NOTHING_WRONG = {
  status: 0,
  operations: 0,
  waiting: [],
  problems: [],
  verdict: 'nothing',
  bottomLine: AS_IT_SHOULD_BE,
}

describe.skipIf(noMounts !== undefined)('attachments that are not as they should be', () => {
  let report: VerdictsReport
  beforeAll(async () => {
    report = await runScenario('verdicts')
  })

  it('control: of a healthy node nothing is said, and no other node is asked about', () => {
    expect(report.healthy).toMatchObject({ ...NOTHING_WRONG, asked: [] })
  })

  it("nor with the kubelet's own credential, which sees only what is its own", () => {
    expect(report.healthyKubelet).toMatchObject(NOTHING_WRONG)
  })

  it('a mounted volume whose VolumeAttachment is absent (O7)', () => {
    const { status, operations, problems, verdict, words, bottomLine } = report.absent
    expect({ status, operations, problems }).toEqual({
      status: 1,
      operations: 0,
      problems: ['error MountedButNotAttached'],
    })
    expect(verdict).toBe('problem MountedButNotAttached')
    expect(words).toContain('(VolumeAttachment csi-')
    expect(bottomLine).not.toBe(AS_IT_SHOULD_BE)
  })

  it('S30: a mounted ReadWriteOnce volume that another node has as well, with the pod there', () => {
    const { status, operations, problems, verdict, words } = report.twoWriters
    expect({ status, operations, problems }).toEqual({ status: 1, operations: 0, problems: ['error TwoWriters'] })
    expect(verdict).toBe('problem TwoWriters')
    expect(words).toContain('worker-2 since 2026-01-02T03:04:05Z, where pod shop/other-0 uses it')
    expect(words).not.toContain('idle-0')
  })

  it('S30: Multi-Attach: which node has it, since when, and which pod there', () => {
    const { status, waiting, problems, verdict, words, verdictWords, asked } = report.multiAttach
    expect({ status, waiting, problems }).toEqual({
      status: 5,
      waiting: ['pv-late: AccessMode'],
      problems: ['warning MultiAttach'],
    })
    expect(verdict).toBe('waiting AccessMode')
    for (const text of [words, verdictWords])
      expect(text).toContain('worker-2 since 2026-01-02T03:04:05Z, where pod shop/late-0 uses it')
    expect(words).toContain('kubectl delete pod -n shop late-0')
    expect(asked).toEqual([expect.stringMatching(/^GET \/api\/v1\/pods\?.*spec\.nodeName=worker-2.* 200$/)])
  })

  it("S3: with the kubelet's own credential it is not known, which is not that nobody has it", () => {
    const { waiting, words } = report.forbidden
    expect(waiting).toEqual(['pv-late: NotAttached'])
    expect(words).toContain('this credential does not show whether pv-late is attached elsewhere')
  })

  it('S30: of a plugin without VolumeAttachments the status of the other Node tells', () => {
    const { waiting, problems, words, asked } = report.lun
    expect(waiting).toEqual(['pv-lun: AccessMode'])
    expect(problems.filter((each) => !each.endsWith('ReadFailed'))).toEqual(['warning MultiAttach'])
    expect(words).toContain('worker-2, where pod shop/lun-0 uses it')
    expect(asked).toHaveLength(2)
  })

  it('S3: and where it may not be read, that is said', () => {
    const { waiting, words, asked } = report.lunForbidden
    expect(waiting).toEqual(['pv-lun: NotAttached'])
    expect(words).toContain('this credential does not show whether pv-lun is attached elsewhere: other nodes')
    expect(asked).toEqual([expect.stringMatching(/^GET \/api\/v1\/nodes\?.* 403$/)])
  })

  it('a snapshot says the same', () => {
    expect(Object.entries(report).map(([name, { offline }]) => [name, offline])).toEqual(
      Object.keys(report).map((name) => [name, []]),
    )
  })
})
