/** The program by which kubectl completes `kubectl volctl …`, in every shell that completes kubectl itself. It asks plugin-line.ts. */

/** The same whatever the commands are: they are asked for when a person types. */
export function kubectlCompletion(): string {
  return `#!/bin/sh
# Completion of "kubectl volctl", written by: volctl completion kubectl
# kubectl starts it if it is executable, in the PATH, and called kubectl_complete-volctl.
if command -v kubectl-volctl >/dev/null 2>&1; then
  exec kubectl-volctl __complete_plugin "$@"
fi
exec volctl __complete_plugin "$@"
`
}
