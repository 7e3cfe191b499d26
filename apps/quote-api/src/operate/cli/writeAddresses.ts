// Writes the addresses of a deployment into the files that the services read.
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type DeployedName, depositAddressesAbi, permitRouterAbi } from '@causeway/contracts'
import type { Hex } from '@causeway/core'
import { z } from 'zod'
import type { DeploymentTarget } from './deploymentTargets.ts'

/** `address` in lower case. */
type Deployed = { readonly name: DeployedName; readonly address: Hex }

/**
 * A replaced fill contract, its address in lower case. `codeHash`: keccak-256 of its code, if no release and
 * no file knows that code yet.
 */
export type Replaced = { readonly address: Hex; readonly codeHash?: Hex }

const members = z.record(z.string(), z.unknown())
const chainsFile = z.looseObject({ chains: z.array(z.looseObject({ id: z.string() })) })
const quoteFile = z.looseObject({ chains: z.record(z.string(), members) })
/** A hub file has the hub, or a list with only the hub. */
const hubFile = z.union([z.tuple([members]), members])

/**
 * Writes the addresses of a chain into the chain and quote file, or those of the hub into the hub file.
 * Nothing else in them changes, except white space. The files change one after the other; after a failure in
 * between a second run completes them. @returns the paths of the files that changed
 */
export async function writeAddresses(
  folder: { readonly directory: string; readonly environment: string },
  target: Pick<DeploymentTarget, 'key' | 'client' | 'isHub'>,
  { deployed, replaced }: { readonly deployed: readonly Deployed[]; readonly replaced: Replaced | undefined },
): Promise<readonly string[]> {
  const path = (name: string) => join(folder.directory, `${name}.${folder.environment}.json`)
  const { key } = target
  if (target.isHub) {
    const addresses = hubMembers(deployed)
    const addMembers = (json: unknown) => {
      const hub = hubFile.parse(json)
      return Array.isArray(hub) ? [{ ...hub[0], ...addresses }] : { ...hub, ...addresses }
    }
    return listChanged([await rewrite(path('chains.hub'), addMembers)])
  }
  const quoted = await quoteMembers(target.client, deployed)
  const changedChains = await rewrite(path('chains'), (json) => {
    const { chains, ...otherMembers } = chainsFile.parse(json)
    const updateEntry = (entry: (typeof chains)[number]) =>
      entry.id === key ? { ...entry, ...listedMembers(entry, deployed, replaced) } : entry
    return { ...otherMembers, chains: chains.map(updateEntry) }
  })
  const changedQuote = await rewrite(path('quote'), (json) => {
    const { chains, ...otherMembers } = quoteFile.parse(json)
    return { ...otherMembers, chains: { ...chains, [key]: { ...chains[key], ...quoted } } }
  })
  return listChanged([changedChains, changedQuote])
}

function hubMembers(deployed: readonly Deployed[]): Readonly<Record<string, Hex>> {
  const addressOf = addressesBy(deployed)
  return omitUndefined({
    hubAddress: addressOf('Hub'),
    oracleAddress: addressOf('HubOracle'),
    oracleMultisigAddress: addressOf('OracleMultisig'),
    genericMappingAddress: addressOf('GenericMapping'),
    auroraAllocatorAddress: addressOf('Allocator'),
    // The allocator contract itself verifies withdraw requests.
    auroraAllocatorSpenderAddress: addressOf('Allocator'),
  })
}

/** Members of the chain file. A replaced fill contract stays listed, because earlier payments went through it. */
function listedMembers(
  entry: Readonly<Record<string, unknown>>,
  deployed: readonly Deployed[],
  replaced: Replaced | undefined,
): Readonly<Record<string, unknown>> {
  const addressOf = addressesBy(deployed)
  const listedContracts = z.array(z.string()).default([]).parse(entry['fillContracts'])
  const isListed = (address: Hex) => listedContracts.some((listed) => listed.toLowerCase() === address)
  const missing = [replaced?.address, addressOf('FillContract')].filter(
    (address) => address !== undefined && !isListed(address),
  )
  const hashes = z.record(z.string(), z.string()).default({}).parse(entry['codeHashes'])
  return {
    ...omitUndefined({ depository: addressOf('Depository') }),
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
  client: DeploymentTarget['client'],
  deployed: readonly Deployed[],
): Promise<Readonly<Record<string, unknown>>> {
  const addressOf = addressesBy(deployed)
  const depositAddresses = addressOf('DepositAddresses')
  const permitRouter = addressOf('PermitRouter')
  const sweepCodeHash =
    depositAddresses &&
    (await client.readContract({
      address: depositAddresses,
      abi: depositAddressesAbi,
      functionName: 'SWEEP_CODE_HASH',
    }))
  const depositCodeHash =
    permitRouter &&
    (await client.readContract({
      address: permitRouter,
      abi: permitRouterAbi,
      functionName: 'DEPOSIT_CODE_HASH',
    }))
  return {
    ...omitUndefined({
      fillContract: addressOf('FillContract'),
      cleanupRouter: addressOf('CleanupRouter'),
      depositRouter: addressOf('DepositRouter'),
      permit2Router: addressOf('Permit2Router'),
    }),
    ...(depositAddresses !== undefined && {
      depositAddresses: { contract: depositAddresses, sweepCodeHash },
    }),
    ...(permitRouter !== undefined && { permitRouter: { contract: permitRouter, depositCodeHash } }),
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

/** Replaces the file in one step, so that a service that starts meanwhile reads the old or the new one. @returns undefined if nothing changes */
async function rewrite(path: string, change: (json: unknown) => unknown): Promise<string | undefined> {
  const json: unknown = JSON.parse(await readFile(path, 'utf8'))
  const changed = change(json)
  if (JSON.stringify(changed) === JSON.stringify(json)) return undefined
  const draft = `${path}.${process.pid}`
  await writeFile(draft, `${JSON.stringify(changed, null, 2)}\n`)
  await rename(draft, path)
  return path
}

function listChanged(paths: readonly (string | undefined)[]): readonly string[] {
  return paths.filter((path) => path !== undefined)
}
