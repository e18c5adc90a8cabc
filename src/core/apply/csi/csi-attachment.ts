/** What the API says right before a CSI volume is staged, published or expanded. */

import { errorMessage } from '../../base/errors.ts'
import { attachmentName } from '../../facts/actual/volume-names.ts'
import { withDeadline } from '../../linux/deadline.ts'
import { NOT_ASKED } from '../../rules/machine-facts.ts'
import { requireRules } from '../../rules/rules.ts'
import { AttachedElsewhere } from '../../volumes/api-objects.ts'
import { allowsSeveralNodes } from '../../volumes/node-affinity.ts'
import type { StepContext } from '../operation/step-context.ts'
import { type WantedCsi, wantedCsi } from './csi-call.ts'

/**
 * @returns the publish context (C39); empty for a volume that is not attachable
 * @throws OperationRefused, or a failed read
 */
export async function requireAttached(run: StepContext): Promise<Readonly<Record<string, string>>> {
  const wanted = wantedCsi(run)
  const { volume } = wanted
  const attaches = volume.attachability === 'attachable'
  const name = attachmentName(wanted.handle, wanted.driver, run.plan.node)
  const { cluster } = run.context
  const [node, attachment, elsewhere] = await run.waiting.spend((ms) => {
    const ask = <T>(answer: Promise<T>): Promise<T> => withDeadline(answer, ms, 'the API server')
    return Promise.all([
      ask(cluster.getNode()),
      attaches ? ask(cluster.getVolumeAttachment(name)) : undefined,
      attaches ? nodesElsewhere(run, wanted, ask) : [],
    ])
  })
  const api = { node, toSetUp: { volume, attachmentName: name, elsewhere } }
  await requireRules({ ...run, attachment, api }, NOT_ASKED, 'call')
  return attachment?.status?.attachmentMetadata ?? {}
}

/** Of other nodes that have the volume attached, where its access mode allows only one; a text: why they are not known. */
async function nodesElsewhere(
  { context, plan }: StepContext,
  { volume, driver, handle }: WantedCsi,
  ask: <T>(answer: Promise<T>) => Promise<T>,
): Promise<readonly string[] | string> {
  if (allowsSeveralNodes(volume.persistentVolume)) return []
  try {
    const all = await ask(context.cluster.listVolumeAttachments())
    const others = all.filter(({ spec, status }) => spec.nodeName !== plan.node && status?.attached === true)
    return new AttachedElsewhere(others, () => undefined).nodesOf({ driver, handle })
  } catch (error) {
    return errorMessage(error)
  }
}
