import type { Hex } from '@causeway/core'
import { concatHex, encodeFunctionData, size, zeroAddress } from 'viem'
import { multicall3Abi } from '../contracts/abis.generated.ts'
import type { LocalAccount } from '../keys/localKeys.ts'
import type { LocalChain, LocalTransaction } from '../nodes/localChain.ts'
import { create2Proxy } from '../uniswap/create2.ts'
import type { PlannedContract } from './contractPlan.ts'
import { multicall3Address } from './predeploys.ts'

/** Several deployments share one transaction up to this much creation code, about 8 M gas. */
const initCodeBytesPerTransaction = 24_000
const zeroSalt: Hex = `0x${'00'.repeat(32)}`
const ownerAbi = [
  { type: 'function', name: 'owner', stateMutability: 'view', inputs: [], outputs: [{ type: 'address' }] },
] as const

/** Deploys what has no code yet. Needs Multicall3 in place. @throws Error when one of them stays without code */
export async function deployMissing(
  chain: LocalChain,
  deployer: LocalAccount,
  planned: readonly PlannedContract[],
): Promise<void> {
  const missing = await withoutCode(chain, planned)
  await chain.send(deployer, chunked(missing).map(deployment))
  const failed = await withoutCode(chain, missing)
  if (failed.length > 0)
    throw new Error(`no code after deployment: ${failed.map(({ what }) => what).join(', ')}`)
}

export type Initialization = { readonly contract: PlannedContract; readonly data: Hex }

/**
 * Makes the one `initialize` call of every contract that has no owner yet, all in one transaction: the
 * call names the owner, so it does not matter who sends it.
 */
export async function initializeMissing(
  chain: LocalChain,
  deployer: LocalAccount,
  initializations: readonly Initialization[],
): Promise<void> {
  const owners = await Promise.all(
    initializations.map(({ contract }) =>
      chain.client.readContract({ address: contract.address, abi: ownerAbi, functionName: 'owner' }),
    ),
  )
  const missing = initializations.filter((_, index) => owners[index] === zeroAddress)
  if (missing.length === 0) return
  const what = `initialization of ${missing.map(({ contract }) => contract.what).join(', ')}`
  const calls = missing.map(({ contract, data }) => ({ target: contract.address, data }))
  await chain.send(deployer, [together(what, calls)])
}

async function withoutCode(
  chain: LocalChain,
  planned: readonly PlannedContract[],
): Promise<readonly PlannedContract[]> {
  const codes = await Promise.all(planned.map(({ address }) => chain.client.getCode({ address })))
  return planned.filter((_, index) => codes[index] === undefined)
}

function chunked(planned: readonly PlannedContract[]): readonly (readonly PlannedContract[])[] {
  const chunks: PlannedContract[][] = []
  let bytesInLast = Number.POSITIVE_INFINITY
  for (const contract of planned) {
    const bytes = size(contract.initCode)
    if (bytesInLast + bytes > initCodeBytesPerTransaction) {
      chunks.push([])
      bytesInLast = 0
    }
    chunks.at(-1)?.push(contract)
    bytesInLast += bytes
  }
  return chunks
}

function deployment(contracts: readonly PlannedContract[]): LocalTransaction {
  return together(
    `deployment of ${contracts.map(({ what }) => what).join(', ')}`,
    contracts.map(({ initCode, salt = zeroSalt }) => ({
      target: create2Proxy,
      data: concatHex([salt, initCode]),
    })),
  )
}

function together(
  what: string,
  calls: readonly { readonly target: Hex; readonly data: Hex }[],
): LocalTransaction {
  return {
    what,
    to: multicall3Address,
    data: encodeFunctionData({
      abi: multicall3Abi,
      functionName: 'aggregate3',
      args: [calls.map(({ target, data }) => ({ target, allowFailure: false, callData: data }))],
    }),
  }
}
