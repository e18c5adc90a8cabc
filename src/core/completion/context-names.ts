/** Contexts that --context may name. */
import { join } from 'node:path'
import { ADMIN_FILES } from '../api/kubeconfig/kube-config.ts'
import { mergeKubeConfigs, type RawKubeConfig, readKubeConfigFile } from '../api/kubeconfig/kube-config-file.ts'
import { callerPath } from '../trust/caller.ts'
import { environment } from '../trust/environment.ts'

/** @param kubeconfig --kubeconfig, if given; else KUBECONFIG counts, then the first of the usual places */
export function contextNames(kubeconfig: string | undefined): string[] {
  const { KUBECONFIG = '', HOME = '' } = environment()
  if (kubeconfig !== undefined) return namesIn([kubeconfig])
  const listed = KUBECONFIG.split(':').filter((path) => path !== '')
  if (listed.length > 0) return namesIn(listed)
  const usual = [join(HOME, '.kube', 'config'), ...ADMIN_FILES]
  return usual.map((path) => namesIn([path])).find((names) => names.length > 0) ?? []
}

function namesIn(paths: readonly string[]): string[] {
  return mergeKubeConfigs(paths.flatMap(readable)).contexts.map(({ name }) => name)
}

function readable(path: string): RawKubeConfig[] {
  try {
    return [readKubeConfigFile(callerPath(path))]
  } catch {
    return []
  }
}
