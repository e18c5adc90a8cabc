/** What a container runtime says when it sets up or ends a container with volumes. */
import { frame, row } from './sentence.ts'

export const RUNTIME = {
  VolumeNotInPod: row(
    'cannot find volume * to mount into container | spec.volumes … duplicate value | volumemounts … must be unique | volumemounts … name: not found | volumedevices … name: not found',
    'A container mounts a volume that the pod does not have, or that the kubelet took down already or has not set up yet.',
    'Compare the names in volumeMounts with spec.volumes. If they agree, the pod was just ending or its mount was not finished: its next events say which.',
    { by: ['kubelet'], about: 'pod' },
  ),
  SubPathGone: row(
    'volume-subpaths … no such file or directory',
    'The container mounts a subPath whose file is gone: the config map, secret or volume was changed after the pod was made.',
    'Delete the pod, so that a new one mounts it again. With a ConfigMap and subPath this comes after each change of it; a mount without subPath follows changes.',
    { about: 'pod', codes: ['LeakedSubPath'] },
  ),
  SubPathFailed: frame(
    'failed to prepare subpath for volumemount | failed to prepare subpath … error mounting | failed to create subpath directory for volumemount | subpath prep failed | error preparing subpath | failed to create subpath | subpath … not within volume path | error checking subpath mount info | error opening subpath | unexpected symlink found | is outside of allowed base | error resolving symlinks | error mounting … subpath | error creating file … subpath | createcontainerconfigerror … subpath | failed to subpath | is an unexpected symlink after | is an unexpected irregular file after | is not within base | not within basedir | unable to create nested volume mountpoints | invalid container mount point',
    'A subPath of a volume cannot be made or opened: it leads out of the volume, is a link, is a file where a directory should be, or the volume does not answer.',
    'ls -la of that path inside the volume. After a subPath file was removed and made again on the host, restart the pod.',
    { by: ['kubelet'], about: 'pod' },
  ),
  SubPathCleanup: frame(
    'error cleaning subpath mounts | error cleaning subpath mount | failed to clean subpath | error ummounting | error deleting … volume-subpaths | failed to remove subpath',
    'Sub-path mounts of a pod could not be taken down, so that the volume stays mounted.',
    'volctl explain on the pod names the mount and what has it open.',
    { by: ['kubelet'], about: 'pod', codes: ['LeakedSubPath', 'HeldBy'], rules: ['O17'] },
  ),
  ContainerGone: row(
    'failed to find container | failed to exec in container … not found | no such container',
    'A probe or command was to run in a container that is not there any more: it was restarted or removed in between.',
    'Nothing, if it comes once. If it repeats: crictl ps -a on {node}, and the events of the pod.',
    { about: 'pod' },
  ),
  MountOfWrongKind: row(
    'not a directory: unknown | mount a directory onto a file | error mounting … to rootfs … not a directory | cannot create subdirectories in',
    'The container mounts a file where a directory is, or a directory where a file is.',
    'Compare mountPath and subPath with the volume: a hostPath file that did not exist was made as a directory, or a config map key is mounted over a directory.',
    { about: 'pod' },
  ),
  MountPathWrong: row(
    'destination cant be / | invalid mount path | invalid mount config | invalid volume specification | must be an absolute path',
    'The pod mounts a volume on a path that the container runtime does not allow.',
    'Correct the mountPath in volumeMounts: an absolute path other than /, without a colon.',
    { about: 'pod' },
  ),
  MountInReadOnly: row(
    'to rootfs … read-only file system | mountpoint for … read-only file system | create mountpoint … read-only file system',
    'The container mounts something below a directory that is itself mounted read-only there, so that the mount point cannot be made.',
    'Compare the mountPath of each volumeMount: the inner one needs its directory in the outer volume, or another place. A config map or secret is always read-only.',
    { about: 'pod' },
  ),
  NoPropagation: row(
    'is not a shared or slave mount | is not a shared mount | could not find source mount of',
    'The container needs mounts to spread between node and container (mountPropagation), and that directory is not a shared mount.',
    'mount --make-rshared / on {node} (systemd does it at boot); in a container that runs the kubelet, the bind of its root directory has to be rshared.',
  ),
  RuntimeRootBusy: row(
    'failed to umount … shm | failed to unmount … shm | failed to remove … rootfs … busy | failed to unmount target … rootfs | failed to cleanup rootfs | unable to remove filesystem | failed to unmount … /run/containerd | failed to unmount rootfs',
    "The container runtime could not take down a container's own file system: something else has it.",
    'grep the container id in /proc/*/mountinfo: usually an agent that has copied all mounts of the host. Restart that agent.',
  ),
  ContainerNotCreated: frame(
    'failed to generate container … spec | failed to create containerd container | failed to create shim task | oci runtime create failed | error during container init | runc create failed | failed to create container | createcontainererror | runcontainererror | error response from daemon | failed to start container | failed to stat … volume | failed to create containerd task | failed to mount rootfs component | starting container process caused',
    'The container could not be made or started; its volumes may be mounted all the same.',
    'The end of the line is the reason of the runtime: a mount that does not answer, a missing path, a right. kubectl describe pod shows the mounts of the container.',
    { about: 'pod' },
  ),
  ContainerNotKilled: frame(
    'unable to kill init process | failed to kill container | failed to stop container | an error occurs during waiting for container … to be killed | killcontainererror | container … was not killed | failed to kill all the processes | failed to exit within | tried to kill container, but did not receive an exit event | container … is stuck | no such process: unknown',
    'A container does not stop, so that its volumes stay in use.',
    'ps -eo pid,stat,wchan,cmd on {node}: a process in state D hangs on its storage. Bring that back; the kubelet then goes on.',
    { about: 'pod', codes: ['PodStillRunning'], rules: ['S9', 'O4'] },
  ),
  SandboxFailed: row(
    'failed to create pod sandbox | failed to reserve sandbox name | failed to create sandbox | createpodsandbox | failed to setup network for sandbox | failed to pull image | imagepullbackoff | errimagepull | failed to destroy network for sandbox | networkplugin | cni plugin | back-off pulling image | failed to get sandbox image | failed create pod sandbox',
    'The pod does not start for another reason than its volumes: its sandbox, network or image.',
    'kubectl describe pod shows it. Volumes wait for nothing here.',
    { about: 'pod' },
  ),
  ServiceFailed: row(
    'service: start request repeated too quickly | service: failed with result | service: main process exited, code=exited, status= | service: control process exited | systemd: failed to start',
    'A service of the node ended with an error, or does not start; systemd says so.',
    'systemctl status and journalctl -u of the service in the line. If it is the kubelet, the runtime, iscsid, multipathd or a daemon of the storage, volumes wait for it.',
    { unchecked: 'volctl does not look at this service' },
  ),
} as const
