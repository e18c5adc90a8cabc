/** Lines of kube-controller-manager and of external attachers, asked of a cluster. */
import { describe, expect, it } from 'vitest'
import { clusterScope } from '../../../src/core/log-lines/cluster-line.ts'
import { lineView } from '../../../src/core/log-lines/explain-line.ts'
import type { LineExplanation } from '../../../src/core/log-lines/line-explanation.ts'
import { parseLine } from '../../../src/core/log-lines/parse-line.ts'
import { attachmentName } from '../../../src/core/names/volume-names.ts'
import { renderLine } from '../../../src/core/views/line-view.ts'
import { screenLines } from '../../../src/core/views/screen-lines.ts'
import { DRIVER } from '../../helpers/cluster-builder.ts'
import { explainerOf } from '../../helpers/cluster-plan.ts'
import { SCREENS } from '../../helpers/screens.ts'
import { WORKED_CLUSTERS } from '../../helpers/worked-clusters.ts'
import { answerDefects } from '../../log-lines/schema.ts'

const NAME = attachmentName('h-data', DRIVER, 'node-1')

function answerTo(cluster: string, text: string): LineExplanation {
  const state = WORKED_CLUSTERS[cluster]
  if (state === undefined) throw new Error(`no cluster ${cluster}`)
  const line = parseLine(text)
  const scope = clusterScope(explainerOf(state))
  expect(scope.head).toMatchObject({ cluster: { server: state.server }, createdAt: state.capturedAt })
  const { answer, explained } = scope.answer(line)
  return {
    ...{ apiVersion: 'volctl.io/v1', kind: 'LineExplanation', line: lineView(line), ...scope.head, ...answer },
    ...(explained && { explanation: explained }),
  }
}

const LINES = [
  {
    cluster: 'multi-attach',
    line: 'Multi-Attach error for volume "pv-data" Volume is already used by pod(s) web-5d8f-old',
    sentence: 'MultiAttachError',
    main: 'pv/pv-data',
    code: 'MultiAttach',
  },
  {
    cluster: 'multi-attach',
    line: 'I0301 12:00:00.000000       1 reconciler.go:330] "Multi-Attach error: volume is already exclusively attached and can\'t be attached to another node" logger="persistentvolume-attach-detach-controller" attachedTo=["node-1"] volume={"VolumeToAttach":{"MultiAttachErrorReported":false,"VolumeName":"kubernetes.io/csi/disk.csi.example.com^h-data"}}',
    sentence: 'MultiAttachError',
    main: 'volume/kubernetes.io/csi/disk.csi.example.com^h-data',
    code: 'MultiAttach',
  },
  {
    cluster: 'stuck-attachment',
    line: 'AttachVolume.Attach failed for volume "pv-data" : timed out waiting for external-attacher of disk.csi.example.com CSI driver to attach volume h-data',
    sentence: 'AttachFailed',
    main: 'pv/pv-data',
    code: 'AttacherSilent',
  },
  {
    cluster: 'stuck-attachment',
    line: `AttachVolume.Attach failed for volume "pv-data" : volume attachment is being deleted`,
    sentence: 'AttachmentEnding',
    main: 'pv/pv-data',
    code: 'AttacherSilent',
  },
  {
    cluster: 'stuck-attachment',
    line: `E0301 12:00:00.000000 1 csi_handler.go:251] "Error processing" VolumeAttachment="${NAME}" err="failed to detach: could not mark as detached: volume attachment is being deleted"`,
    sentence: 'AttachmentEnding',
    main: `va/${NAME}`,
    code: 'AttacherSilent',
  },
  {
    cluster: 'node-gone',
    line: 'AttachVolume.Attach failed for volume "pv-data" : CSINode node-2 does not contain driver disk.csi.example.com',
    sentence: 'CsiNodeMissing',
    main: 'pv/pv-data',
    code: 'MachineMayWrite',
  },
  {
    cluster: 'node-gone',
    line: 'failed to attach: node "node-2" has no NodeID annotation',
    sentence: 'CsiNodeMissing',
    main: 'node/node-2',
    code: 'MachineMayWrite',
  },
] as const

describe.each(LINES)('$line', ({ cluster, line, sentence, main, code }) => {
  const answer = answerTo(cluster, line)

  it('is known, and its names are taken', () => {
    expect(answer.sentence?.name ?? answer.also[0]).toBe(sentence)
    expect(answer.main?.ask).toBe(main)
    expect(answer.explanation?.verdict.code).toBe(code)
    expect(answerDefects(answer)).toEqual([])
  })

  it('the answer fits the screen, and speaks of the cluster', () => {
    const text = renderLine(answer, SCREENS['80x24'])
    expect(screenLines(text, 80)).toBeLessThan(24)
    expect(text).toContain('In cluster https://api.example:6443')
    expect(text).not.toContain('this node')
    expect(text).toContain(`More: volctl explain --cluster ${main}`)
  })
})

it('without a cluster the sentence is explained all the same', () => {
  const { answer, explained } = clusterScope(undefined).answer(parseLine('Multi-Attach error for volume "pv-data"'))
  expect(answer).toMatchObject({ sentence: { name: 'MultiAttachError' }, names: [] })
  expect(explained).toBeUndefined()
})

it('what is on a node is not looked for', () => {
  const { names } = answerTo(
    'node-gone',
    'MountVolume.SetUp failed for volume "pv-data": stat /var/lib/kubelet/plugins: no such file',
  )
  expect(names.find(({ kind }) => kind === 'path')).toMatchObject({
    found: false,
    says: expect.stringContaining('kubectl volctl on NODE explain'),
  })
})
