/**
 * Which tests show each safety rule; rules.test.ts checks that they are there. Tests with real mounts, namespaces, processes
 * or servers come first.
 */
import { type Shown, shown } from '../helpers/titles.ts'

const broken = (...titles: readonly string[]): readonly Shown[] => shown('privileged/safety/rules', ...titles)
const planner = (...titles: readonly string[]): readonly Shown[] => shown('reconcile/safety', ...titles)
const trust = (file: string, ...titles: readonly string[]): readonly Shown[] =>
  shown(`privileged/trust/${file}`, ...titles)
/** Each thing that volctl looks at with each trick. */
const UNTRUSTED = trust('untrusted', 'S33, S34: has no effect: %s')
const standing = (...titles: readonly string[]): readonly Shown[] => shown('privileged/safety/standing', ...titles)

/** A volume of each kind, each way to use it, each operation that takes something away. */
const WITH_LAZY = "S18, S20: without --lazy nothing of it is touched; with it the pod's directory goes"
const USES = shown('privileged/uses/uses', 'S12, S18, S20, S21, S24: is named, or not hurt: %s')
/** On every propagation layout of the root directory. */
const layouts = (...titles: readonly string[]): readonly Shown[] => shown('privileged/layouts/half-way', ...titles)

const LAZILY_DETACHED =
  'S20, S21: an ext4 that was detached lazily and is still open holds back every volume that it may be'

export const RULES: Readonly<Record<string, readonly Shown[]>> = {
  S1: [
    ...shown(
      'e2e/refusals',
      'S1: another cluster with a node of the same name',
      'S1: another machine',
      'S1: another machine ID beside the same system UUID',
      'S1: another system UUID beside the same machine ID',
      'S1: another boot beside a kubelet that runs',
      'S1: no such node',
    ),
    ...standing(
      'S1: one id that agrees is not enough where another contradicts, until that one is accepted',
      'S1: --node of another node than the kubelet here says that it is',
    ),
    ...shown('reconcile/identity/machine-ids', 'S1: compareIds'),
    ...shown('node/kubelet/own-node-name', 'S1: ownNodeName'),
    ...shown('node/host-facts', 'S1: hostIdentity'),
    ...shown('api/read-api', 'refuses a node that does not exist (S1)'),
    ...planner('S1 right machine'),
  ],
  S2: shown(
    'api/read-api',
    'the second look at the pod list (S2)',
    'refuses where pods are hidden, or the cluster is another',
  ),
  S3: [
    ...shown('e2e/refusals', 'S3: a user without rights', 'S3: an API server that fails'),
    ...shown('e2e/api-away', 'S3: $name right after the plan: nothing is done on what it said before'),
    ...shown(
      'privileged/faults/stale',
      'S3: hangs no command, and nothing on it is taken for absent; what gone pods have of it goes',
    ),
    ...shown(
      'e2e/rights',
      "S3: what the kubelet's own credential is not told of may be anything, and is not taken for absent",
    ),
    ...shown('api/kube-client', 'takes a 404 without a Status for no absence (S3)'),
    ...planner('S3 only absence is evidence'),
    ...shown('reconcile/whole-lists', 'S3: a list is whole, or what it lacks is unknown', 'S3: entries made at random'),
    ...shown('e2e/verdicts', "S3: with the kubelet's own credential it is not known, which is not that nobody has it"),
    ...shown('api/objects', 'of anything else: it is unknown (S3)'),
  ],
  S4: [
    ...broken(
      'S4: a volume of a living pod that cannot be read holds back every unstage and detach',
      'S4: a pod whose volumes cannot be used holds back what is its own, and nothing else',
    ),
    ...planner('S4 unresolved volumes'),
    ...shown(
      'reconcile/unresolved-volumes',
      'S4: holds back its own pod alone',
      'S4: is known, and holds back itself alone',
      'S4: may be any, and holds back every device operation',
      'S4: of other plugins',
    ),
    ...shown('cluster/detach', 'S4: a claim that could not be read holds every detach of its node, and of no other'),
  ],
  S5: [
    ...broken('S5: a pod that lives keeps its mounts though its claim is deleted'),
    ...planner('S5: an existing pod keeps what it does not want any more'),
  ],
  S6: [
    ...standing(
      "S6: volctl goes into the kubelet's mount namespace, and undoes there what is mounted nowhere else",
      'S6: nothing is done where the container runtime sees a mount that is not here',
    ),
    ...shown(
      'privileged/unmounting',
      'S6: removes no directory that is a mount point in another namespace: rmdir would detach it there (R036)',
    ),
    ...shown('node/host-facts', 'S6: checkMountNamespace'),
  ],
  S7: [
    ...standing('S7: nothing is done in a chroot, a user namespace or another PID namespace'),
    ...shown('node/host-facts', 'S7: standingObstacles'),
  ],
  S8: [
    ...standing('S8: two kubelets, or one without an API server, are refused'),
    ...shown('node/kubelet/find-kubelet', 'S8: several kubelets', 'S8: a stopped kubelet'),
    ...layouts('S8, S18: $kind that fails half-way leaves nothing, and is brought up and down by the next'),
    ...shown('privileged/layouts/set-up-nested', 'S8, O35: on the layout %s'),
    ...shown('privileged/layouts/csi-nested', 'S8, O35: on the layout %s'),
    ...shown('privileged/layouts/left-behind-nested', 'S8, O35: on the layout %s'),
    ...shown('e2e/repair', 'its root directory: %s'),
    ...shown('e2e/set-up', 'its root directory: %s'),
    ...shown('captures-on-layouts', 'S8, S18: every mount twice, %s: the same plan'),
    ...shown(
      'e2e/moved-root',
      'S8: %s below the old place: the detach is not planned',
      'S8: what pods have mounted below the old place is not set up a second time below the new one',
      'S8: what is staged in both places is not unstaged here',
      'S8, S21: in a mount namespace of somebody else alone: the detach is not planned, and the apply does not begin it',
    ),
    ...shown(
      'privileged/links',
      'S8: behind %s nothing is touched, and no device is undone',
      'S8, S26: a link that leads elsewhere once the apply comes to it refuses all that is behind it: %s',
      'S8: a link in place of all pods that is not gone through hides every one of them: %s',
      'S8, S12: who uses what is behind it is found: %s',
      "S8: a volume's whole life behind links of a driver and of pods",
    ),
    ...shown(
      'linked-captures',
      'S8: a link in place of %s changes no plan',
      'a control, $name: where nothing tells what is behind them, nothing is decided on it',
    ),
    ...shown(
      'node/structure-links',
      'S8: a link in the structure is gone through',
      'S8: of any other nothing behind it is known',
      'S33: a link that somebody else could have made is not obeyed',
    ),
    ...shown(
      'reconcile/obstacles/outside-root',
      'S8: a mount outside of the root directory holds the detach of the volume that its path is of',
      'S8, S24: it holds the unstage as well',
    ),
  ],
  S9: [
    ...shown(
      'cri/containerd',
      'S9: a real containerd: a pod that runs, whose container ends, that stops, and that is gone',
      'S9: a second containerd that knows nothing neither speaks for the node nor hides what the first one runs',
    ),
    ...broken('S9: a runtime that knows none of the pods that live is no witness, and nothing of a pod is undone'),
    ...shown('processes/pod-cgroups', 'S9: podUidsOfCgroup'),
    ...shown(
      'node/nested-kubelets',
      'S9: real cgroups',
      'S9: podsOfCgroup',
      'S9: the processes of a node with a nested kubelet',
    ),
    ...broken(
      'S9: a pod that nothing here knows holds every device',
      'S9: the pods of a kubelet in a container use no volume of this node',
    ),
    ...shown(
      'reconcile/unidentified-volumes',
      'a process alone, of a pod that nothing here knows',
      'a pod of a kubelet nested in a pod or a container',
    ),
    ...planner('S9 witnesses'),
  ],
  S10: [
    ...broken("S10: the directory of a static pod with a UID of its manifest's own is left alone, mount and all"),
    ...shown('node/host-facts', 'S10: readStaticPods'),
    ...shown('reconcile/static-pods', 'S10 a manifest whose hash nobody can tell'),
    ...planner('S10 static pods', "S10: a mirror pod's annotation is the word of whoever may create pods"),
  ],
  S11: [
    ...standing(
      'S11: a kubelet between two crashes owns the devices, and one that is stopped does not',
      'S11: a kubelet of another name is known by its flags, or by who listens on its port',
    ),
    ...shown('node/kubelet/kubelet-shape', 'S11: isKubeletByFlags'),
    ...broken('S11: while a kubelet runs only what pods that are gone have left for long is undone, and no device'),
    ...shown(
      'e2e/interruptions',
      'a kubelet that comes stops it (S11)',
      'so does a lease that is renewed meanwhile, though no kubelet is seen here (S11)',
    ),
    ...shown('e2e/kubelet-returns', 'S11: nothing is done on the answer, which is older than the kubelet'),
    ...shown(
      'privileged/safety/systemd',
      'S11: stopped a moment ago, or forgotten by systemd, the settle time holds',
      'S11: masked',
      'S11: between two starts, and failed for good',
      'S11: stopped, while a timer may start it',
      'S11: held by another supervisor',
    ),
    ...shown('node/kubelet/kubelet-state', 'S11: judgeKubelet'),
    ...shown('node/kubelet/signs-of-life', 'S11: withSignsOfLife', 'S11: renewedSince'),
    ...shown('reconcile/settle', 'S11 settle time of a pod that is finished'),
  ],
  S12: [
    ...USES,
    ...broken('S12: a bind mount of the same device below an emptyDir keeps it, and what is behind'),
    ...shown('privileged/deleting', 'is refused while somebody is inside, whatever the directory is called there'),
    ...shown(
      'privileged/content-users',
      'S12: content that is in use',
      '$use: refused and named, and hurt where nobody asks',
      'S12: content that nobody uses',
    ),
    ...shown('privileged/explaining', 'whom apply refuses to delete content for (S12) is whom explain names'),
    ...shown(
      'reconcile/obstacles/content-users',
      'S12: an emptyDir that is in use under another name is blocked with --orphans',
      'S12: what else is emptied or removed',
    ),
    ...shown(
      'privileged/swapping',
      '$kind: $rounds times, and nothing outside has changed',
      'parents: the way to the volume itself leads elsewhere 10,000 times',
    ),
  ],
  S13: [
    ...broken(
      'S13: data goes only with --orphans, and what is no data of an emptyDir never',
      'S13: a file whose name is not UTF-8 is data of an emptyDir as well, and keeps any other directory',
    ),
    ...shown('privileged/deleting', 'S13: of an emptyDir in which the plan saw no file only directories are deleted'),
    ...shown(
      'privileged/hostile-content',
      'S13: what has a name that is not UTF-8 is data as well: only that of an emptyDir goes, with --orphans',
    ),
    ...shown('privileged/content-users', 'S13: memory that is in use'),
    ...shown(
      'e2e/over-empty-dirs',
      'S13: of a foreign mount plan, explain and the end of apply say that a kubelet would delete its content',
    ),
    ...planner('S13 data of a pod that is gone'),
    ...shown('reconcile/obstacles/memory-data', 'S13 sub-paths of an emptyDir in memory'),
  ],
  S14: [...broken('S14: a state file stays while its driver is away'), ...planner('S14 state files')],
  S15: [
    ...shown(
      'privileged/set-up/local',
      'with nothing on it is not formatted: the command is named, and nothing left (S15)',
    ),
  ],
  S16: [
    ...broken('S16: where the driver fails the kernel is not asked instead'),
    ...planner('S16 driver first'),
    ...shown('apply/steps', 'the driver first (S16, R441)'),
  ],
  S17: [
    ...broken('S17: a PersistentVolume that was made anew does not tell the handle of what is staged under its name'),
    ...planner('S17 recovered identity'),
    ...shown('reconcile/identity/csi-identity', 'S17: --handle does not lift the device check'),
  ],
  S18: [
    ...USES,
    ...layouts(
      'S8, S18: $kind that fails half-way leaves nothing, and is brought up and down by the next',
      'S18: what somebody has mounted over $kind meanwhile stays, and is named',
      'S18: what somebody mounts right before volctl does is foreign, and stays',
      'S18: a copy that stays when its mount has gone is named',
      'S18: what no path leads to any more is no mounted volume, and is not mounted over; all else goes on',
    ),
    ...broken(
      'S18: a foreign mount over a volume blocks it and stays',
      'S18: of what the root directory hides, bound over itself, nothing is touched; it is done once that is gone',
      'S18: a directory that is bound over itself, and shared, hides copies alone, which go with their mounts',
    ),
    ...shown(
      'privileged/safety/hung',
      'S18: ten mounts of one volume on one path go one by one, and none of ten of which one is foreign',
    ),
    ...shown('privileged/unmounting', 'S18, S26: touches nothing where a foreign mount has come after the plan'),
    ...shown('privileged/dead-mounts', 'S18: are unmounted without being looked at, though their daemon never answers'),
    ...shown('e2e/over-empty-dirs', WITH_LAZY),
    ...planner('S18 layers'),
  ],
  S19: [
    ...shown(
      'apply/steps',
      'is forced though the root directory that is bound over itself shows a copy, which is no other mount (S19, O35)',
    ),
    ...shown(
      'privileged/safety/hung',
      'S19: no force where the connection has another mount, here or in another namespace',
      'S19: children that survive SIGKILL keep no command from ending; the mount is named, and goes by force',
    ),
    ...planner('S19: --force-unmount names one path'),
  ],
  S20: [
    ...USES,
    ...shown('privileged/safety/hidden-file-system', LAZILY_DETACHED),
    ...shown('privileged/devices', 'sees a superblock that no mount table shows any more (S20, S21)'),
    ...shown(
      'privileged/dead-mounts',
      'S19, S20: go by force where nothing shares the connection; by a lazy umount nothing follows unless it is shown to be gone',
    ),
    ...shown('e2e/over-empty-dirs', WITH_LAZY),
    ...shown('node/lazily-detached', 'what was detached lazily (S20)'),
    ...planner('S20: --lazy is for dead mounts only'),
  ],
  S21: [
    ...USES,
    ...shown('privileged/safety/hidden-file-system', LAZILY_DETACHED),
    ...broken('S21: what a second PersistentVolume shares the handle of is not detached'),
    ...shown('apply/detach/detach', 'detaching (S21)', 'beside a file system that no mount table shows (S20)'),
    ...shown('privileged/device-uses', 'S21: %s: it is taken away', 'S21: $use: nothing takes it away'),
    ...shown(
      'privileged/device-uses',
      'S21: %s: it is detached, whatever else the file system is used for',
      'S21: $use: it is not detached',
      'S21: the whole of it was mounted elsewhere only after the volume: it is the disk of the volume',
      'S20, S21: one without a disk holds the detach by whoever has the file open',
    ),
    ...shown('api/fresh-volumes', 'pod, claim and volume that were made after the last look (S21)'),
    ...shown('e2e/pod-appears', 'S21: a pod that came with a claim and a volume of its own keeps its disk attached'),
    ...shown('apply/disks/find-volume-device', 'a device that is in use, while that of the volume is not known (S21)'),
    ...shown(
      'apply/disks/require-device-unused',
      'a process of nobody’s holds the map of a raw block volume',
      'a process of another pod of this node that wants the volume does not',
    ),
    ...shown('block/whole-disk', 'the disk and everything on it (S21)'),
    ...planner('S21 detach'),
  ],
  S22: [
    ...broken('S22: nothing is mounted over a file, which stays'),
    ...shown('privileged/set-up/nfs', 'is not mounted over what a pod wrote without it (S22)'),
    ...planner('S22 mount'),
    ...shown('e2e/verdicts', 'a mounted volume whose VolumeAttachment is absent (O7)'),
  ],
  S23: [
    ...broken('S23: changed content is not written unasked'),
    ...shown('reconcile/observed', 'O28: changed content is shown, and written only when asked for (S23)'),
  ],
  S24: [
    ...USES,
    ...layouts('S24: somebody else who has a staged volume mounted keeps it staged; its copy is nobody'),
    ...broken('S24: what somebody else has mounted as well is not unstaged, nor detached'),
    ...shown('apply/operation/preconditions', 'readers of a staged volume (S24)'),
    ...planner('S24 unstage'),
  ],
  S25: [
    ...shown(
      'privileged/sessions',
      'an opener is found without O_EXCL and under any name, in any mount namespace (S25)',
    ),
    ...shown('apply/iscsi', 'names are compared whole, never by their beginning (S25, P78)'),
  ],
  S26: [
    ...shown(
      'e2e/pod-appears',
      'S26: nothing of that pod is touched, the rest is done',
      'S26: while apply is at work, what has not begun yet is refused',
    ),
    ...shown(
      'e2e/two-applies',
      'S26: one that had looked before another did everything finds it done, and changes nothing',
    ),
    ...shown('privileged/unmounting', 'S18, S26: touches nothing where a foreign mount has come after the plan'),
    ...shown('apply/operation/preconditions', 'the mounts that the plan was made on (S18, S26)'),
    ...shown(
      'apply/kubelet-returns',
      'S26: while the other conditions are judged, and that takes long: its volume is not unstaged',
    ),
  ],
  S27: [
    ...shown(
      'privileged/unmounting',
      'S27: another mount in the place of the one that the plan was made on is told by its id, and stays',
      'S27: unmounts hundreds in one go, believes the mount table read after it, and names who holds the one that is busy',
    ),
    ...shown('mountinfo/stable-table', 'S27: stableRead', 'S27: tableAt'),
    ...shown('apply/batch', 'S27: checks once, unmounts in few calls, and reads the table once after'),
  ],
  S28: [
    ...broken('S28: times in the future or of zero count as just now'),
    ...shown(
      'e2e/clock',
      "S28: what is done is the same, whether the cluster's clock is right, an hour behind or an hour ahead",
      "S28: while a kubelet runs, nothing looks settled because this host's clock was set forward",
      'S28: one that jumps while apply is at work changes nothing of it',
    ),
    ...shown('api/kube-client', "tells how far this host's clock is from the server's (S28)"),
    ...shown('reconcile/settle', 'is told in this host’s clock (S28): $name'),
  ],
  S29: [
    ...shown('e2e/refusals', 'S29: no pod in the API, though processes of pods run'),
    ...shown('e2e/clock', 'S29: a cluster whose clock is right, and whose times are an hour old, is one from a backup'),
    ...planner('S29 outage guard'),
    ...shown('reconcile/obstacles/dead-drivers', 'S29 all mounts of one driver dead at once'),
    ...shown('cluster/pass', 'S29: the outage guard of a cluster'),
  ],
  S30: [
    ...broken('S30: what another node has attached, too, against its access mode is neither unstaged nor detached'),
    ...shown('e2e/rights', 'S30: with it apply undoes and brings up what it can be sure of; the rest is named'),
    ...planner('S30: a volume attached elsewhere against its access mode is not unstaged; the unmount goes on'),
    ...shown(
      'e2e/verdicts',
      'S30: a mounted ReadWriteOnce volume that another node has as well, with the pod there',
      'S30: Multi-Attach: which node has it, since when, and which pod there',
      'S30: of a plugin without VolumeAttachments the status of the other Node tells',
    ),
    ...shown('reconcile/multi-attach', 'where other Nodes could not be read, nothing is mounted (S30)'),
    ...shown('cluster/properties', 'none that only one node may have is attached a second time'),
  ],
  S31: [
    ...broken('S31: before the question stand cluster, machine, kubelet, guards, volumes and bytes'),
    ...shown('cli/views/plan-view', 'wide: everything that is known, before anyone says yes (S31)'),
    ...shown('privileged/read-only', 'S31: %s: the write fails, and plan and explain say so'),
  ],
  S32: [
    ...trust(
      'fake-kubelet',
      'S32: changes nothing while the kubelet is stopped, with %s',
      'S32: changes nothing beside the kubelet, with %s',
      "S32: of a pod's container nothing is believed, run or loaded, though it has root's uid and the host's PIDs",
    ),
    ...trust(
      'fake-runtime',
      'S32: refuses nothing: %s',
      "S32: one of another user does not make volctl's PID namespace the node's (S7)",
    ),
    ...shown(
      'trust/processes',
      'does not believe another user',
      'does not believe one of a user, not even with a process of root in it',
    ),
  ],
  S33: [
    ...shown('cli/may-apply', 'S33: what is only passed over refuses no apply; what the kubelet may obey does'),
    ...shown('trust/files', '$name', 'never opens a FIFO, a device or a directory'),
    ...shown('trust/gates', 'no file outside of them $what'),
    ...trust('users-mount', 'S33: is not trusted, whatever its type and source are called'),
    ...trust('strace', 'each has an absolute path'),
    ...trust(
      'kubeconfig-owner',
      'S33: is refused in one line: %s',
      'S33: is refused for what it names: %s',
      'S33: is passed over in a home that is %s',
      'S33: starts no program where it was only found: %s',
      'S33: starts no program for the second look at the pods (S2)',
    ),
    ...trust(
      'output-files',
      'S33: $command writes nothing to $name',
      'S33: $command does not write into $name',
      'S33: $command leaves what has another name alone: $name',
      'S33: $command writes nothing into $name',
    ),
    ...trust(
      'journal-files',
      'S33: apply does nothing where $where is $trick',
      'S33: a plan says that it does not believe what is remembered where $where is $trick',
      'S33: what is remembered is not believed: $where, $trick',
      'S33: apply does nothing where $where of the lock is $trick',
      'S33: nobody waits for a lock that is $trick',
      'S33: is not written through %s',
    ),
    ...trust('environment', 'S33: runs nothing and loads nothing; kubelet: %s', 'S33: finds no credential plugin'),
    ...trust(
      're-entry',
      'S33: what was typed are files of the place where it was typed',
      "S33: the kubelet's relative --kubeconfig is that of its own directory (%s)",
    ),
    ...UNTRUSTED,
  ],
  S34: [
    ...trust(
      'endless-input',
      "S34: an API server's answer is one line",
      'S34: a snapshot is one line',
      "S34: a credential plugin's output is one line",
      'S34: a credential plugin is told what the kubeconfig says, and nothing of the caller',
    ),
    ...trust('insecure-api', 'S34: %s: plan, journal and refusal say so, and apply wants a flag'),
    ...trust('environment', 'S34: makes no server believed that the kubeconfig does not vouch for'),
    ...trust('test-switches', 'S34: VOLCTL_REENTERED and VOLCTL_CALLER change nothing'),
    ...shown('safety/places', 'S34: no shipped volctl can be given another host to look at'),
    ...shown('snapshot/memory', 'S34: to read a snapshot takes less than 500 MB'),
    ...shown('trust/parse-json', 'S34: depth', 'S34: values', 'S34: bytes'),
    ...shown('trust/bytes', 'ends what unpacks to more, long before all is unpacked', 'ends one that never ends'),
    ...UNTRUSTED,
  ],
  S35: [
    ...shown(
      'privileged/stop/stop',
      'S35: stops the kubelet, waits, applies, starts it, and says so',
      'S35: the kubelet runs again after every end',
      'S35: a terminal that is closed does not end it',
      'S35: killed at any moment, systemd starts it, its timer goes, and the next apply works',
      'S35: a reboot meanwhile starts it',
      'S35: a unit that does not run stays as it was',
      'S35: refused',
    ),
    ...shown('kubelet-stop/require-stoppable', 'S35: $name: $outcome'),
    ...shown('kubelet-stop/once-stopped', 'S35: what the kubelet has to be stopped for: $name'),
    ...shown('kubelet-stop/time-limits', 'S35: where nothing could end in time, nothing is stopped: $says'),
  ],
}
