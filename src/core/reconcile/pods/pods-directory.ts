import type { ActualInputs } from '../../facts/actual/actual-inputs.ts'

/**
 * Every kubelet creates the directory of its pods: without one, this is not the kubelet's root directory, or its disk is not
 * mounted. Undefined: the directory is there, or the whole section is missing.
 */
export function missingPodsDirectory(
  inputs: ActualInputs,
): { readonly path: string; readonly message: string; readonly hint: string } | undefined {
  if (inputs.snapshot.tree === undefined || inputs.tree.has('pods')) return undefined
  const path = inputs.absolute('pods')
  return {
    path,
    message: `${path} does not exist, though every kubelet creates it: which volumes the pods have is not known`,
    hint: "Check that this is the kubelet's root directory (--root-dir), and that its disk is mounted; if both are right, create the directory.",
  }
}
