/** A log of kube-controller-manager, asked of a cluster: grouped, explained and drawn as the log of a kubelet. */
import { describe, expect, it } from 'vitest'
import { clusterScope } from '../../../src/core/log-lines/cluster-line.ts'
import { explainLog } from '../../../src/core/log-lines/explain-log.ts'
import { renderLog } from '../../../src/core/views/log-view.ts'
import { namesOfLines } from '../../../src/core/views/names.ts'
import { screenLines } from '../../../src/core/views/screen-lines.ts'
import { explainerOf } from '../../helpers/cluster-plan.ts'
import { SCREENS } from '../../helpers/screens.ts'
import { WORKED_CLUSTERS } from '../../helpers/worked-clusters.ts'
import { answerDefects } from '../../log-lines/schema.ts'

const line = (second: number, rest: string): string => `E0301 11:5${second}:00.000000       1 ${rest}`
const MULTI_ATTACH = `event.go:389] "Event occurred" reason="FailedAttachVolume" message="Multi-Attach error for volume \\"pv-data\\" Volume is already used by pod(s) web-5d8f-old"`
const GONE = `operation_generator.go:1] AttachVolume.Attach failed for volume "pv-other" : timed out waiting for external-attacher`
const NEWS = `I0301 11:59:00.000000       1 garbagecollector.go:1] "Processing item" item="[v1/Pod, default/web-0]"`
const LOG = {
  lines: [line(1, GONE), ...[2, 3, 4].map((each) => line(each, MULTI_ATTACH)), NEWS],
  total: 5,
  unfinished: false,
}

const asked = explainerOf(WORKED_CLUSTERS['multi-attach'] as NonNullable<(typeof WORKED_CLUSTERS)['multi-attach']>)

describe('the log of a controller', () => {
  const log = explainLog(LOG, clusterScope(asked))

  it('has each trouble once, with what its names are in the cluster', () => {
    expect(answerDefects(log)).toEqual([])
    expect(log).toMatchObject({ scope: 'cluster', cluster: { server: 'https://api.example:6443' } })
    expect(log.lines).toEqual({ total: 5, read: 5, explained: 4 })
    expect(
      log.troubles.map(({ count, sentence, main, command }) => [count, sentence?.name, main?.ask, command]),
    ).toEqual([
      [3, 'MultiAttachError', 'pv/pv-data', 'volctl explain --cluster pv/pv-data'],
      [1, 'AttachFailed', undefined, undefined],
    ])
    expect(log.troubles[0]?.main?.verdict?.code).toBe('MultiAttach')
    expect(namesOfLines(log.troubles)).toContain('persistentvolume/pv-data')
  })

  it('on a screen of 80 columns', () => {
    const text = renderLog(log, SCREENS['80x24'])
    expect(screenLines(text, 80)).toBeLessThan(24)
    expect(text).not.toContain('this node')
    expect(text).toMatchInlineSnapshot(`
      "5 lines: 2 troubles in 4 lines, the most frequent first; cluster
      https://api.example:6443 as of 2026-03-01T12:00:00Z

      3x MultiAttachError, 03-01 11:52:00 to 03-01 11:54:00
          The volume allows one node at a time (one pod with ReadWriteOncePod), and
          another one still has it.
          volume pv-data: volume pv-data (claim shop/data) may be on one node only
          (ReadWriteOnce): node node-1 has the volume since 2026-02-28T21:00:00.000Z
          (pod shop/web-5d8f-old, being deleted since 2026-03-01T11:53:00.000Z); node
          node-2 (pod shop/web-5d8f-new, created 2026-03-01T11:53:00.000Z) waits for
          it
          volctl explain --cluster pv/pv-data

      1x AttachFailed, 03-01 11:51:00
          The volume could not be attached to the node.
          volume pv-other: not found in the cluster
      "
    `)
  })

  it('without a cluster has counts and meanings', () => {
    const offline = explainLog(LOG, clusterScope(undefined))
    expect(answerDefects(offline)).toEqual([])
    expect(offline.troubles.map(({ count, sentence }) => [count, sentence?.name])).toEqual([
      [3, 'MultiAttachError'],
      [1, 'AttachFailed'],
    ])
  })
})
