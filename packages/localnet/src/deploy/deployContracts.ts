import { type DeploymentChain, deployContracts, type Transaction } from '@causeway/contracts'
import type { Hex } from '@causeway/core'
import { encodeFunctionData, size, zeroAddress } from 'viem'
import { multicall3Abi } from '../contracts/abis.generated.ts'
import type { LocalAccount } from '../keys/localKeys.ts'
import type { LocalChain, LocalTransaction } from '../nodes/localChain.ts'
import type { PlannedContract } from './contractPlan.ts'
import { multicall3Address } from './predeploys.ts'

/** Several deployments share one transaction up to this much calldata, about 8 M gas. */
const calldataBytesPerTransaction = 24_000
const ownerAbi = [
  { type: 'function', name: 'owner', stateMutability: 'view', inputs: [], outputs: [{ type: 'address' }] },
] as const

/**
 * A local chain in the form that an operator's deployment takes. It sends everything through Multicall3, which has to be
 * in place. @param nameOf names a transaction in the error of one that reverts
 */
export function deploymentChain(
  chain: LocalChain,
  deployer: LocalAccount,
  nameOf: (transaction: Transaction) => string,
): DeploymentChain {
  return {
    codeAt: (address) => chain.client.getCode({ address }),
    read: async ({ to, data }) => (await chain.client.call({ to, data })).data ?? '0x',
    send: (transactions) =>
      chain.send(
        deployer,
        splitByCalldata(transactions).map((chunk) => multicall(chunk.map(nameOf).join(', '), chunk)),
      ),
  }
}

/** Deploys what has no code yet. @throws Error when one of them stays without code */
export async function deployMissing(
  chain: LocalChain,
  deployer: LocalAccount,
  planned: readonly PlannedContract[],
): Promise<void> {
  // Calldata of the CREATE2 proxy is the salt and then the creation code.
  const nameOf = ({ data }: Transaction) =>
    `deployment of ${planned.find(({ initCode }) => data.endsWith(initCode.slice(2)))?.what}`
  const deployed = await deployContracts(deploymentChain(chain, deployer, nameOf), planned)
  const failed = deployed.filter(({ code }) => code === undefined)
  if (failed.length > 0)
    throw new Error(`no code after deployment: ${failed.map(({ what }) => what).join(', ')}`)
}

export type LocalInitialization = { readonly contract: PlannedContract; readonly data: Hex }

/**
 * Calls `initialize` of tokens and feeds that have no owner yet, all in one transaction: the call names the owner, so it
 * does not matter who sends it.
 */
export async function initializeMissing(
  chain: LocalChain,
  deployer: LocalAccount,
  initializations: readonly LocalInitialization[],
): Promise<void> {
  const owners = await Promise.all(
    initializations.map(({ contract }) =>
      chain.client.readContract({ address: contract.address, abi: ownerAbi, functionName: 'owner' }),
    ),
  )
  const missing = initializations.filter((_, index) => owners[index] === zeroAddress)
  if (missing.length === 0) return
  const subject = `initialization of ${missing.map(({ contract }) => contract.what).join(', ')}`
  const calls = missing.map(({ contract, data }) => ({ to: contract.address, data }))
  await chain.send(deployer, [multicall(subject, calls)])
}

function splitByCalldata(transactions: readonly Transaction[]): readonly (readonly Transaction[])[] {
  const chunks: Transaction[][] = []
  // Infinite, so that the first transaction begins a chunk.
  let bytesInLast = Number.POSITIVE_INFINITY
  for (const transaction of transactions) {
    const bytes = size(transaction.data)
    if (bytesInLast + bytes > calldataBytesPerTransaction) {
      chunks.push([])
      bytesInLast = 0
    }
    chunks.at(-1)?.push(transaction)
    bytesInLast += bytes
  }
  return chunks
}

/** One transaction that makes several calls, all of which have to succeed. */
function multicall(subject: string, calls: readonly Transaction[]): LocalTransaction {
  return {
    what: subject,
    to: multicall3Address,
    data: encodeFunctionData({
      abi: multicall3Abi,
      functionName: 'aggregate3',
      args: [calls.map(({ to, data }) => ({ target: to, allowFailure: false, callData: data }))],
    }),
  }
}
