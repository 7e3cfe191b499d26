// Writes the addresses of a deployment into the files that the services read.
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type DeployedName, depositAddressesAbi, permitRouterAbi } from '@causeway/contracts'
import type { Hex } from '@causeway/core'
import { z } from 'zod'
import type { Place } from './contractPlaces.ts'

type Deployed = { readonly name: DeployedName; readonly address: Hex }

/** `codeHash`: keccak-256 of its code where nothing else says that this is meant. */
export type Replaced = { readonly address: Hex; readonly codeHash?: Hex }

const members = z.record(z.string(), z.unknown())
const chainsFile = z.looseObject({ chains: z.array(z.looseObject({ id: z.string() })) })
const quoteFile = z.looseObject({ chains: z.record(z.string(), members) })
/** A list of one hub is a hub file as well. */
const hubFile = z.union([z.tuple([members]), members])

/**
 * Puts the addresses of a chain into the chain and quote file, and those of the hub into the hub file. All else in
 * them stays, but for white space. @returns the paths of the files that changed
 */
export async function writeAddresses(
  folder: { readonly directory: string; readonly environment: string },
  place: Pick<Place, 'key' | 'client' | 'isHub'>,
  { deployed, replaced }: { readonly deployed: readonly Deployed[]; readonly replaced: Replaced | undefined },
): Promise<readonly string[]> {
  const path = (name: string) => join(folder.directory, `${name}.${folder.environment}.json`)
  const { key } = place
  if (place.isHub) {
    const own = hubMembers(deployed)
    const addMembers = (json: unknown) => {
      const hub = hubFile.parse(json)
      return Array.isArray(hub) ? [{ ...hub[0], ...own }] : { ...hub, ...own }
    }
    return listChanged([await rewrite(path('chains.hub'), addMembers)])
  }
  const quoted = await quoteMembers(place.client, deployed)
  const inChains = await rewrite(path('chains'), (json) => {
    const { chains, ...rest } = chainsFile.parse(json)
    const updateEntry = (entry: (typeof chains)[number]) =>
      entry.id === key ? { ...entry, ...listedMembers(entry, deployed, replaced) } : entry
    return { ...rest, chains: chains.map(updateEntry) }
  })
  const inQuote = await rewrite(path('quote'), (json) => {
    const { chains, ...rest } = quoteFile.parse(json)
    return { ...rest, chains: { ...chains, [key]: { ...chains[key], ...quoted } } }
  })
  return listChanged([inChains, inQuote])
}

function hubMembers(deployed: readonly Deployed[]): Readonly<Record<string, Hex>> {
  const at = addressesBy(deployed)
  return omitUndefined({
    hubAddress: at('Hub'),
    oracleAddress: at('HubOracle'),
    oracleMultisigAddress: at('OracleMultisig'),
    genericMappingAddress: at('GenericMapping'),
    auroraAllocatorAddress: at('Allocator'),
    // The allocator contract itself verifies withdraw requests.
    auroraAllocatorSpenderAddress: at('Allocator'),
  })
}

/** Members of the chain file. A replaced fill contract stays listed, because earlier payments went through it. */
function listedMembers(
  entry: Readonly<Record<string, unknown>>,
  deployed: readonly Deployed[],
  replaced: Replaced | undefined,
): Readonly<Record<string, unknown>> {
  const at = addressesBy(deployed)
  const listedContracts = z.array(z.string()).default([]).parse(entry['fillContracts'])
  const isListed = (address: Hex) => listedContracts.some((one) => one.toLowerCase() === address)
  const missing = [replaced?.address, at('FillContract')].filter(
    (address) => address !== undefined && !isListed(address),
  )
  const hashes = z.record(z.string(), z.string()).default({}).parse(entry['codeHashes'])
  return {
    ...omitUndefined({ depository: at('Depository') }),
    ...(missing.length > 0 && { fillContracts: [...listedContracts, ...missing] }),
    ...(replaced?.codeHash !== undefined && {
      codeHashes: { ...hashes, [replaced.address]: replaced.codeHash },
    }),
  }
}

/**
 * Members of the quote file, with the code hashes that addresses and spenders are derived from, read from the
 * contracts.
 */
async function quoteMembers(
  client: Place['client'],
  deployed: readonly Deployed[],
): Promise<Readonly<Record<string, unknown>>> {
  const at = addressesBy(deployed)
  const [sweeps, permits] = [at('DepositAddresses'), at('PermitRouter')]
  const sweepCodeHash =
    sweeps &&
    (await client.readContract({
      ...{ address: sweeps, abi: depositAddressesAbi, functionName: 'SWEEP_CODE_HASH' },
    }))
  const depositCodeHash =
    permits &&
    (await client.readContract({
      ...{ address: permits, abi: permitRouterAbi, functionName: 'DEPOSIT_CODE_HASH' },
    }))
  return {
    ...omitUndefined({
      fillContract: at('FillContract'),
      cleanupRouter: at('CleanupRouter'),
      depositRouter: at('DepositRouter'),
      permit2Router: at('Permit2Router'),
    }),
    ...(sweeps !== undefined && { depositAddresses: { contract: sweeps, sweepCodeHash } }),
    ...(permits !== undefined && { permitRouter: { contract: permits, depositCodeHash } }),
  }
}

function addressesBy(deployed: readonly Deployed[]): (name: DeployedName) => Hex | undefined {
  return (name) => deployed.find((contract) => contract.name === name)?.address
}

function omitUndefined(values: Readonly<Record<string, Hex | undefined>>): Readonly<Record<string, Hex>> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}

/** Replaced as a whole, so that a service that starts meanwhile reads the old file or the new one. */
async function rewrite(path: string, change: (json: unknown) => unknown): Promise<string | undefined> {
  const json: unknown = JSON.parse(await readFile(path, 'utf8'))
  const next = change(json)
  if (JSON.stringify(next) === JSON.stringify(json)) return undefined
  const draft = `${path}.${process.pid}`
  await writeFile(draft, `${JSON.stringify(next, null, 2)}\n`)
  await rename(draft, path)
  return path
}

function listChanged(paths: readonly (string | undefined)[]): readonly string[] {
  return paths.filter((path) => path !== undefined)
}
