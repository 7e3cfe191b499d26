import { resolve } from 'node:path'
import { ConfigurationError } from '@causeway/core'
import { z } from 'zod'
import { readJsonFile } from '../../files/jsonFile.ts'
import { readKeyFile } from '../../keys/keyFile.ts'
import { connectLocalChain } from '../../nodes/localChain.ts'
import { isMarked } from '../chainMarker.ts'
import { type ChainKey, chainKeys, chainPlans, forEachChain } from '../chainPlan.ts'
import { localPaths } from '../localPaths.ts'
import { readManifest } from '../manifest.ts'
import type { OperatedNetwork } from './operatedNetwork.ts'

/** The part of `network.json` that says where the nodes and the stand-ins' control server listen. */
const networkFileSchema = z.object({
  chains: z.array(z.object({ name: z.string(), rpcUrl: z.url() })),
  hub: z.object({ rpcUrl: z.url() }),
  familyControlUrl: z.url().optional(),
})

/**
 * Connects to the local network that runs in a directory, from another process than the one that
 * started it. @throws ConfigurationError when none runs there
 */
export async function attachLocalNetwork(directory: string): Promise<OperatedNetwork> {
  const paths = localPaths(resolve(directory))
  const [keyFile, manifest, networkFile] = await Promise.all([
    readKeyFile(paths.keyFile),
    readManifest(paths.manifest),
    readJsonFile(paths.networkFile),
  ])
  const described = networkFileSchema.safeParse(networkFile.kind === 'found' ? networkFile.json : undefined)
  const urls = described.success ? rpcUrls(described.data) : undefined
  if (keyFile.kind !== 'read' || manifest.kind !== 'read' || urls === undefined)
    throw noneRuns(paths.directory)
  const chains = await forEachChain(async (key) => {
    const chain = connectLocalChain(urls[key], chainPlans[key].chainId)
    // Somebody else's node may listen there since the network was stopped.
    const isOurs = await isMarked(chain, keyFile.networkId).catch(() => false)
    if (!isOurs) throw noneRuns(paths.directory)
    return { chain }
  })
  const { keys } = keyFile
  return { keys, deployment: manifest.deployment, chains, familyControlUrl: described.data?.familyControlUrl }
}

function rpcUrls({
  chains,
  hub,
}: z.infer<typeof networkFileSchema>): Readonly<Record<ChainKey, string>> | undefined {
  const allChains = [...chains, { name: 'hub', rpcUrl: hub.rpcUrl }]
  const [base, optimism, hubUrl] = chainKeys.map((key) => allChains.find(({ name }) => name === key)?.rpcUrl)
  if (base === undefined || optimism === undefined || hubUrl === undefined) return undefined
  return { base, optimism, hub: hubUrl }
}

function noneRuns(directory: string): ConfigurationError {
  return new ConfigurationError(`no local network runs in ${directory}: npm start starts one`)
}
