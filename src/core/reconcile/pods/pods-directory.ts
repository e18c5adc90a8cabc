import type { ActualInputs } from '../../actual/actual-inputs.ts'

/**
 * Every kubelet makes the directory of its pods: where there is none, another directory is looked at, or the disk is not
 * mounted. Undefined: it is there, or the section is missing as a whole.
 */
export function missingPodsDirectory(
  inputs: ActualInputs,
): { readonly path: string; readonly message: string; readonly hint: string } | undefined {
  if (inputs.snapshot.tree === undefined || inputs.tree.has('pods')) return undefined
  const path = inputs.absolute('pods')
  return {
    path,
    message: `${path} does not exist, which every kubelet makes: what its pods have is not known`,
    hint: "Check that this is the kubelet's root directory (--root-dir), and that its disk is mounted; if so, make it.",
  }
}
