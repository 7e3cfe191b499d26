// Builds images with buildah, starts them against a local network, and stops them. It needs root, and buildah and
// debootstrap from Debian; no container engine and no image registry. Whatever happens, Ctrl-C included, it ends what
// it started.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startTestDatabase } from '@causeway/database'
import { startTestNetwork } from '@causeway/localnet'
import { buildBaseImage } from './images/baseImage.ts'
import { createBuildah } from './images/buildah.ts'
import { imageVariables } from './images/imageVariables.ts'
import { createProcesses } from './images/processes.ts'
import { runImage } from './images/runImage.ts'
import { pinnedNode } from './sbom/bills.ts'

const root = join(import.meta.dirname, '..')
const stopping = new AbortController()
const processes = createProcesses()
/** Undone from the last to the first. */
const started: (() => Promise<unknown>)[] = []

/** @param wanted names of services; none means all @returns whether all of them were built and ran, and nothing is left */
export async function tryImages(wanted: readonly string[]): Promise<boolean> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (!stopping.signal.aborted) console.error(`${signal}: ending what was started …`)
      stopping.abort(new Error(`stopped by ${signal}`))
      void processes.endAll()
    })
  }
  let isGood = true
  const tell = (error: unknown) => {
    console.error(error)
    isGood = false
  }
  // A process that was ended fails too; why it was is what counts.
  await buildAndRun(wanted).catch((error: unknown) =>
    tell(stopping.signal.aborted ? stopping.signal.reason : error),
  )
  await processes.endAll()
  for (const undo of started.reverse()) await undo().catch(tell)
  return isGood
}

async function buildAndRun(wanted: readonly string[]): Promise<void> {
  const dockerfile = await readFile(join(root, 'docker/Dockerfile'), 'utf8')
  const node = pinnedNode(dockerfile)
  const folder = await mkdtemp(join(tmpdir(), 'causeway-images-'))
  started.push(() => removeTree(folder))
  const network = await startTestNetwork({ blockTimeSeconds: 1 })
  started.push(() => network.stop())
  const database = await startTestDatabase()
  started.push(() => database.stop())
  const solverDatabase = await startTestDatabase()
  started.push(() => solverDatabase.stop())
  stopping.signal.throwIfAborted()
  const buildah = createBuildah(processes, folder)
  console.log(`Building a base image with Node ${node} …`)
  const base = { name: `node:${node}-bookworm-slim`, node }
  const baseImage = await buildBaseImage(processes, buildah, folder, base)
  const services = await imageVariables(network, {
    'quote-api': database.connectionString,
    solver: solverDatabase.connectionString,
  })
  for (const [service, variables] of Object.entries(services)) {
    if (wanted.length > 0 && !wanted.includes(service)) continue
    const image = `causeway/${service}`
    // Layers would spare the stage that builds its repetitions; copying them in this store takes longer.
    const words = ['--isolation', 'chroot', '--format', 'docker']
    await buildah.shown(
      'bud',
      ...words,
      '--build-arg',
      `BASE_IMAGE=${baseImage}`,
      '--target',
      service,
      '-t',
      image,
      '-f',
      'docker/Dockerfile',
      root,
    )
    console.log(`${service}: ${await runImage(buildah, image, variables)}`)
  }
}

/** Removes a build's folder, mounts of an aborted build first: deleting through them would delete host files. */
async function removeTree(folder: string): Promise<void> {
  const mounts = (await readFile('/proc/self/mounts', 'utf8'))
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
  for (const mount of mounts.filter((path) => path.startsWith(`${folder}/`)).reverse()) {
    await createProcesses().quiet('umount', ['--lazy', mount])
  }
  await rm(folder, { recursive: true, force: true })
}
