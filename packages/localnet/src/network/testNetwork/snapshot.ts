import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Hex } from '@causeway/core'
import { deployNetwork } from '../../deploy/deployNetwork.ts'
import { generateLocalKeys } from '../../keys/generateKeys.ts'
import { readKeyFile, writeKeyFile } from '../../keys/keyFile.ts'
import type { LocalKeys } from '../../keys/localKeys.ts'
import { startAnvil } from '../../nodes/anvil.ts'
import { connectLocalChain } from '../../nodes/localChain.ts'
import { saveChain } from '../chainFiles.ts'
import { chainPlans, forEachChain } from '../chainPlan.ts'
import { deploymentHash } from '../deploymentHash.ts'
import { type LocalPaths, localPaths } from '../localPaths.ts'
import { type Manifest, readManifest, writeManifest } from '../manifest.ts'

/** The deployed state of three chains in files, with the keys it was deployed for. */
export type Snapshot = {
  readonly paths: LocalPaths
  readonly keys: LocalKeys
  readonly deployment: Manifest['deployment']
}

const defaultCacheFolder = fileURLToPath(new URL('../../../../../.cache/localnet/', import.meta.url))
const staleAfterMs = 24 * 3_600_000

/**
 * The snapshot of the contracts as they are now; deployed on the first call and kept in files since.
 * Calls at the same time, of other processes too, agree on one snapshot.
 */
export async function loadSnapshot(args: {
  readonly randomKey: () => Hex
  readonly cacheFolder?: string
  /** Unix seconds of the first block; default: now. */
  readonly startUnixSeconds?: number
}): Promise<Snapshot> {
  const { randomKey, cacheFolder = defaultCacheFolder, startUnixSeconds } = args
  const hash = await deploymentHash()
  const folder = join(cacheFolder, hash)
  const kept = await readSnapshot(folder)
  if (kept !== undefined) return kept
  await removeStale(cacheFolder)
  await buildSnapshot({ cacheFolder, folder, hash, randomKey, startUnixSeconds })
  const built = await readSnapshot(folder)
  if (built === undefined) throw new Error(`no whole snapshot in ${folder}: remove it and try again`)
  return built
}

async function readSnapshot(folder: string): Promise<Snapshot | undefined> {
  const paths = localPaths(folder)
  const [keyFile, manifest] = await Promise.all([readKeyFile(paths.keyFile), readManifest(paths.manifest)])
  if (keyFile.kind !== 'read' || manifest.kind !== 'read') return undefined
  return { paths, keys: keyFile.keys, deployment: manifest.deployment }
}

/** Builds in another folder and renames it when it is whole; of several builds the first one counts. */
async function buildSnapshot(args: {
  readonly cacheFolder: string
  readonly folder: string
  readonly hash: string
  readonly randomKey: () => Hex
  readonly startUnixSeconds: number | undefined
}): Promise<void> {
  const { cacheFolder, folder, hash, randomKey, startUnixSeconds } = args
  const paths = localPaths(join(cacheFolder, `building-${randomUUID()}`))
  await mkdir(paths.chains, { recursive: true })
  const networkId = randomKey()
  const keys = generateLocalKeys(randomKey)
  const deployment = await deployInto(paths, keys, startUnixSeconds)
  await writeKeyFile(paths.keyFile, { networkId, keys })
  await writeManifest(paths.manifest, { networkId, deploymentHash: hash, deployment })
  try {
    await rename(paths.directory, folder)
  } catch (error) {
    const isTaken =
      error instanceof Error && 'code' in error && /^(ENOTEMPTY|EEXIST|EPERM)$/.test(String(error.code))
    if (!isTaken) throw error
    await rm(paths.directory, { recursive: true })
  }
}

async function deployInto(
  paths: LocalPaths,
  keys: LocalKeys,
  startUnixSeconds: number | undefined,
): Promise<Manifest['deployment']> {
  const clock = startUnixSeconds === undefined ? [] : ['--timestamp', String(startUnixSeconds)]
  const args = ['--accounts', '0', '--slots-in-an-epoch', '1', ...clock]
  const nodes = await forEachChain((key) => startAnvil({ chainId: chainPlans[key].chainId, args }))
  try {
    const { base, optimism, hub } = nodes
    const urls = { baseUrl: base.url, optimismUrl: optimism.url, hubUrl: hub.url }
    const deployment = await deployNetwork({ ...urls, keys })
    await forEachChain((key) =>
      saveChain(connectLocalChain(nodes[key].url, chainPlans[key].chainId), paths.chainFile(key)),
    )
    return deployment
  } finally {
    await forEachChain((key) => nodes[key].stop())
  }
}

/** Removes snapshots of other versions of the contracts, and what a killed build left. */
async function removeStale(cacheFolder: string): Promise<void> {
  await mkdir(cacheFolder, { recursive: true })
  for (const name of await readdir(cacheFolder)) {
    const folder = join(cacheFolder, name)
    const { mtimeMs } = await stat(folder)
    if (Date.now() - mtimeMs > staleAfterMs) await rm(folder, { recursive: true, force: true })
  }
}
